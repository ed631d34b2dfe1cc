import { sendUpload } from "../../../src/core/api/send-upload.ts";
import { api } from "../shared/api.ts";

/** Larger files are not hashed as a whole, because the browser would have to hold them in memory. */
const mostHashed = 64 * 1024 * 1024;

/** Uploads a dropped file in parts, each with its checksum, into a folder such as `bronze/maps/`. */
export async function uploadFile(
  file: File,
  folder: string,
  onProgress: (fraction: number) => void,
): Promise<string> {
  const path = `${folder.replace(/\/+$/, "")}/${file.name}`;
  // Browsers offer it on https and on this machine only.
  const subtle = window.isSecureContext ? window.crypto.subtle : undefined;
  const source = {
    size: file.size,
    sha256:
      subtle !== undefined && file.size <= mostHashed
        ? toHex(await subtle.digest("SHA-256", await file.arrayBuffer()))
        : undefined,
    read: async (offset: number, length: number) =>
      new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()),
  };
  await sendUpload(path, source, {
    client: api,
    baseUrl: window.location.origin,
    fetch: (url, init) => fetch(url, { ...init, credentials: "same-origin" }),
    digest:
      subtle === undefined
        ? undefined
        : async (bytes) => toBase64(await subtle.digest("SHA-256", bytes)),
    pause: (ms) => new Promise((resolve) => window.setTimeout(resolve, ms)),
    onProgress: (bytes) => {
      onProgress(file.size === 0 ? 1 : bytes / file.size);
    },
  });
  return path;
}

function toHex(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toBase64(digest: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { hasErrorCode, ignoreMissing } from "../runtime/error-code.ts";
import { makeFolder } from "../runtime/make-folder.ts";
import type { SignedMethod } from "./storage.ts";

/**
 * Signs URLs of this server, each for one object and until a time. The key is a file beside the
 * zones, so that all processes with this folder make and accept the same signatures.
 */
export interface UrlSigner {
  sign(name: string, expires: number, method: SignedMethod): Promise<string>;
  check(
    name: string,
    signed: { expires: number; signature: string; method?: SignedMethod },
  ): Promise<boolean>;
}

export function createUrlSigner(folder: string): UrlSigner {
  let key: Promise<Buffer> | undefined;
  const readKey = () =>
    (key ??= loadKey(path.join(folder, ".signing-key")).catch((error: unknown) => {
      key = undefined;
      throw error;
    }));

  async function digest(name: string, expires: number, method: SignedMethod): Promise<Buffer> {
    return createHmac("sha256", await readKey())
      .update(`${method}\n${name}\n${expires}`)
      .digest();
  }

  return {
    sign: async (name, expires, method) =>
      (await digest(name, expires, method)).toString("base64url"),
    check: async (name, { expires, signature, method = "GET" }) => {
      const given = Buffer.from(signature, "base64url");
      const right = await digest(name, expires, method);
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}

/** `link` never replaces a file, so of two processes that start at once both use the first key. */
async function loadKey(file: string): Promise<Buffer> {
  const found = await readFile(file).catch(ignoreMissing);
  if (found !== undefined) return found;
  await makeFolder(path.dirname(file));
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(randomBytes(32));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await link(temporary, file).catch((error: unknown) => {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  });
  await rm(temporary, { force: true });
  return readFile(file);
}

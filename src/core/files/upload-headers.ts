/** The headers of tus 1.0, the protocol of resumable uploads: https://tus.io/protocols/resumable-upload. */
export const tusVersion = "1.0.0";

/** The algorithms of `Upload-Checksum`. */
export const checksumAlgorithms = ["sha1", "sha256", "sha512", "md5"] as const;
export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

export const tusOptions = {
  "tus-resumable": tusVersion,
  "tus-version": tusVersion,
  "tus-extension": "creation,checksum,termination,expiration",
  "tus-checksum-algorithm": checksumAlgorithms.join(","),
} as const;

/**
 * Reads `Upload-Metadata`: pairs of a name and a value in Base64, separated by commas. Undefined: it
 * is damaged.
 */
export function readMetadata(header: string): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const pair of header.split(",").map((part) => part.trim())) {
    if (pair === "") continue;
    const [name = "", value = "", ...rest] = pair.split(" ");
    const text = decodeBase64(value);
    if (!/^[\x21-\x7e]{1,100}$/.test(name) || rest.length > 0 || text === undefined)
      return undefined;
    if (Object.hasOwn(found, name)) return undefined;
    Object.defineProperty(found, name, { value: text, enumerable: true });
  }
  return found;
}

export function writeMetadata(metadata: Readonly<Record<string, string>>): string {
  return Object.entries(metadata)
    .map(([name, value]) => `${name} ${encodeBase64(value)}`)
    .join(",");
}

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** In Base64. */
  readonly digest: string;
}

/** Reads `Upload-Checksum`, such as `sha256 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=`. */
export function readChecksum(header: string): Checksum | undefined {
  const [name = "", digest = ""] = header.trim().split(/ +/);
  const algorithm = checksumAlgorithms.find((each) => each === name);
  const isBase64 = /^[A-Za-z\d+/]+={0,2}$/.test(digest);
  return algorithm === undefined || !isBase64 ? undefined : { algorithm, digest };
}

function decodeBase64(text: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function encodeBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

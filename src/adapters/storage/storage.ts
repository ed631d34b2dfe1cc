import type { Readable } from "node:stream";
import { KnownError } from "../runtime/known-error.ts";

/** The port. Paths are `zone/…`, always with forward slashes, and never leave their zone. */
export interface Storage {
  /** Whoever reads sees the whole or nothing; what was there is replaced. */
  put(path: string, bytes: Uint8Array, options?: PutOptions): Promise<void>;
  /** Rejects with `NotInStorage` when there is none, as everything does that reads. */
  get(path: string): Promise<Uint8Array>;
  head(path: string): Promise<StoredObject | undefined>;
  /** As `put`, from a local file of any size. */
  putFile(
    path: string,
    file: string,
    options?: PutOptions & TransferOptions,
  ): Promise<StoredObject>;
  /** Into a local file, which appears when it is whole. */
  getFile(path: string, file: string, options?: TransferOptions): Promise<StoredObject>;
  /** Shorter than asked for where the object ends. */
  readRange(path: string, offset: number, length: number): Promise<Uint8Array>;
  /** For an answer over HTTP: the object's facts, and its bytes or a part of them as they come. */
  stream(path: string, range?: ByteRange): Promise<{ object: StoredObject; body: Readable }>;
  copy(from: string, to: string): Promise<StoredObject>;
  /** Was it there? */
  delete(path: string): Promise<boolean>;
  /** In the order of their paths. A prefix begins with a zone and may end anywhere: `silver/a/b`. */
  list(prefix: string, options?: ListOptions): Promise<ObjectPage>;
  /** A real file that other programs may read; undefined where storage is not a folder. */
  localPath(path: string): Promise<string | undefined>;
  /** What GDAL opens. May hold a signature: never log it. */
  gdalPath(path: string): Promise<string>;
  /** Whoever has it may read this one object for a while, an hour unless told. Never log it. */
  signedUrl(path: string, options?: { readonly seconds?: number }): Promise<string>;
  /** Is this one of our own signed addresses, and still valid? */
  checkSignature(path: string, signed: { expires: number; signature: string }): Promise<boolean>;
}

export interface PutOptions {
  readonly contentType?: string | undefined;
}

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  /** From 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/** Without a length: to the end. */
export interface ByteRange {
  readonly offset: number;
  readonly length?: number;
}

export interface ListOptions {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface StoredObject {
  readonly path: string;
  readonly bytes: number;
  /** Another one whenever the bytes may be others. */
  readonly etag: string;
  readonly modified_at: string;
}

export interface ObjectPage {
  readonly items: readonly StoredObject[];
  readonly next_cursor: string | null;
}

/** What came in, what was made of it, what is exported, what the public sees, what tasks answered. */
export const zones = ["bronze", "silver", "gold", "external", "results"] as const;
export type Zone = (typeof zones)[number];

export const defaultSignedSeconds = 3600;
export const largestPage = 1000;

export class NotInStorage extends KnownError {
  constructor(path: string) {
    super("NOT_IN_STORAGE", "permanent", `There is nothing at "${path}" in storage.`);
  }
}

/** What no store may be asked for; the reason is for whoever wrote the path. */
export class BadStoragePath extends KnownError {
  constructor(path: string, reason: string) {
    super("BAD_STORAGE_PATH", "permanent", `"${path}" is not a path in storage: ${reason}.`);
  }
}

export class BadCursor extends KnownError {
  constructor() {
    super("BAD_CURSOR", "permanent", "The cursor is not one that this listing gave.");
  }
}

/** The path's parts, or a refusal: a path is data that came from outside. */
export function splitPath(path: string): readonly [Zone, ...string[]] {
  const parts = check(path);
  if (parts.length < 2) throw new BadStoragePath(path, zoneWanted);
  return parts;
}

/** What `list` takes: as a path, but its last part may be empty or cut off anywhere. */
export function splitPrefix(prefix: string): readonly [Zone, ...string[]] {
  const parts = check(prefix.endsWith("/") ? prefix.slice(0, -1) : prefix);
  return prefix.endsWith("/") || parts.length === 1 ? [...parts, ""] : parts;
}

const zoneWanted = `it must start with a zone: ${zones.map((zone) => `${zone}/`).join(", ")}`;

function check(path: string): readonly [Zone, ...string[]] {
  const refuse = (reason: string): never => {
    throw new BadStoragePath(path, reason);
  };
  if (path.startsWith("/")) refuse("it must not be absolute");
  if (path.length > 1024) refuse("it is longer than 1024 characters");
  // eslint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\\]/.test(path)) refuse("it contains a control character or a backslash");
  const [first = "", ...rest] = path.split("/");
  if ([first, ...rest].some((part) => part === "" || part === "." || part === "..")) {
    refuse('its parts must not be empty, "." or ".."');
  }
  // A file system allows 255, and a file on its way needs a longer name than its own.
  if (rest.some((part) => Buffer.byteLength(part) > 200)) {
    refuse("one of its parts is longer than 200 bytes");
  }
  const zone = zones.find((each) => each === first) ?? refuse(zoneWanted);
  return [zone, ...rest];
}

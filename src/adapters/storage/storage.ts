import type { Readable } from "node:stream";
import { KnownError } from "../runtime/known-error.ts";

/** The port. Paths are `zone/…`, always with forward slashes, and never leave their zone. */
export interface Storage {
  /** Replaces the object. Readers see the old bytes or all of the new ones. */
  put(path: string, bytes: Uint8Array, options?: PutOptions): Promise<void>;
  /** Rejects with `NotInStorage` when there is no object, as do all methods that read. */
  get(path: string): Promise<Uint8Array>;
  head(path: string): Promise<StoredObject | undefined>;
  /** As `put`, from a local file of any size. */
  putFile(
    path: string,
    file: string,
    options?: PutOptions & TransferOptions,
  ): Promise<StoredObject>;
  /** Copies into a local file, which appears when it is complete. */
  getFile(path: string, file: string, options?: TransferOptions): Promise<StoredObject>;
  /** Gives fewer bytes where the object ends. */
  readRange(path: string, offset: number, length: number): Promise<Uint8Array>;
  /** For an answer over HTTP: the object's facts, and its bytes or a part of them as a stream. */
  stream(path: string, range?: ByteRange): Promise<{ object: StoredObject; body: Readable }>;
  copy(from: string, to: string): Promise<StoredObject>;
  /** False: there was no object. */
  delete(path: string): Promise<boolean>;
  /** Sorted by path. A prefix begins with a zone and may end anywhere: `silver/a/b`. */
  list(prefix: string, options?: ListOptions): Promise<ObjectPage>;
  /** What lies directly in a folder, `bronze/` or `bronze/a/`: the folders and files, by name. */
  browse(folder: string, options?: ListOptions): Promise<FolderPage>;
  /** The file that other programs may read; undefined where storage is not a folder. */
  localPath(path: string): Promise<string | undefined>;
  /** A URL that can read, or put, this one object, by default for an hour. Never log it. */
  signedUrl(path: string, options?: SignOptions): Promise<string>;
  /** True: `signedUrl` made this signature for the method, and it has not expired. */
  checkSignature(
    path: string,
    signed: { expires: number; signature: string; method?: SignedMethod },
  ): Promise<boolean>;
}

export type SignedMethod = "GET" | "PUT";

export interface SignOptions {
  readonly seconds?: number;
  /** GET by default. */
  readonly method?: SignedMethod;
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
  /** Changes whenever the bytes may have changed. */
  readonly etag: string;
  readonly modified_at: string;
}

export interface ObjectPage {
  readonly items: readonly StoredObject[];
  readonly next_cursor: string | null;
}

export interface FolderPage extends ObjectPage {
  /** Whole paths with a slash at their ends. */
  readonly folders: readonly string[];
}

/** Uploads, products of workflows, exports, public files, large results of tasks. */
export const zones = ["bronze", "silver", "gold", "external", "results"] as const;
export type Zone = (typeof zones)[number];

export const defaultSignedSeconds = 3600;
export const largestPage = 1000;

export class NotInStorage extends KnownError {
  constructor(path: string) {
    super("NOT_IN_STORAGE", "permanent", `There is nothing at "${path}" in storage.`);
  }
}

/** A path that no storage accepts, with the reason. */
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

/** Checks a path, which is data from outside, and gives its parts. */
export function splitPath(path: string): readonly [Zone, ...string[]] {
  const parts = check(path);
  if (parts.length < 2) throw new BadStoragePath(path, zoneWanted);
  return parts;
}

/** Checks the prefix of a listing: a path whose last part may be empty or incomplete. */
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
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\\]/.test(path)) refuse("it contains a control character or a backslash");
  const [first = "", ...rest] = path.split("/");
  if ([first, ...rest].some((part) => part === "" || part === "." || part === "..")) {
    refuse('its parts must not be empty, "." or ".."');
  }
  // File systems allow 255 bytes, and a temporary file has a longer name than its target.
  if (rest.some((part) => Buffer.byteLength(part) > 200)) {
    refuse("one of its parts is longer than 200 bytes");
  }
  const zone = zones.find((each) => each === first) ?? refuse(zoneWanted);
  return [zone, ...rest];
}

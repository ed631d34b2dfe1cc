import type { Readable } from "node:stream";
import type { StoredObject } from "./storage.ts";

/**
 * Where the bytes of uploads wait until all have arrived: readers of storage never see them. Which of
 * them are confirmed is recorded in the database.
 */
export interface Staging {
  /** Writes bytes from an offset on and drops what was staged behind it. */
  write(id: string, offset: number, body: Readable, options: WriteOptions): Promise<Written>;
  /** The first `length` bytes. */
  read(id: string, length: number): Promise<Readable>;
  /**
   * Makes the staged bytes the object at the path, at once. Undefined: nothing is staged, so an
   * earlier call may have done it.
   */
  publish(id: string, path: string, length: number): Promise<StoredObject | undefined>;
  remove(id: string): Promise<void>;
  /** Where a client can put the bytes itself; undefined: they come through us. */
  readonly direct?: DirectStaging;
}

export interface DirectStaging {
  /** An address that takes the bytes of one upload for a while. */
  sign(id: string): Promise<string>;
  /** Whether all bytes are there. */
  hasAll(id: string, length: number): Promise<boolean>;
}

export interface WriteOptions {
  /** The most bytes that are taken; a longer body is an error after them. */
  readonly limit: number;
  /** Called with each piece before it is written. */
  readonly onBytes: (bytes: Uint8Array) => void;
  /** Called now and then with the number of bytes that survive a crash. */
  readonly onDurable: (bytes: number) => Promise<void>;
}

export interface Written {
  /** How many bytes survive a crash. */
  readonly bytes: number;
  /** Why it ended early: the connection, or the disk. */
  readonly error?: unknown;
}

/** The body has more bytes than the upload was announced with. */
export class BodyTooLong extends Error {}

/**
 * The pieces of a body, which is not destroyed if reading ends early: that would cut the connection
 * before the client has read why.
 */
export function piecesOf(body: Readable): AsyncIterable<Buffer> {
  return body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

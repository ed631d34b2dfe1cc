import { BadCursor } from "./storage.ts";

/** Encodes a service's marker, which may hold characters that a URL cannot. */
export function toCursor(marker: string): string {
  return Buffer.from(marker, "utf8").toString("base64url");
}

export function readCursor(cursor: string): string {
  if (!/^[\w-]+$/.test(cursor)) throw new BadCursor();
  return Buffer.from(cursor, "base64url").toString("utf8");
}

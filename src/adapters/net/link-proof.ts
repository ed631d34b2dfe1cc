import { createHmac, timingSafeEqual } from "node:crypto";

/** Knowing the key, which is in the database, without saying it. */
export function prove(key: string, nonce: string): string {
  return createHmac("sha256", key).update(nonce).digest("hex");
}

export function isProof(given: string, key: string, nonce: string): boolean {
  const expected = Buffer.from(prove(key, nonce));
  const told = Buffer.from(given);
  return told.length === expected.length && timingSafeEqual(told, expected);
}

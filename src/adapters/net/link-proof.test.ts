import { expect, it } from "vitest";
import { isProof, prove } from "./link-proof.ts";

it("holds for this key and this connection alone", () => {
  const proof = prove("key", "nonce");
  expect(isProof(proof, "key", "nonce")).toBe(true);
  expect(isProof(proof, "key", "another nonce")).toBe(false);
  expect(isProof(proof, "another key", "nonce")).toBe(false);
  expect(isProof("", "key", "nonce")).toBe(false);
});

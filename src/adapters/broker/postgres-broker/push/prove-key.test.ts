import { createHmac, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { proveAsServer, proveAsWorker } from "./prove-key.ts";

const key = randomBytes(32);
const zeros = "00".repeat(32);
const parse = (line: string) => JSON.parse(line) as Record<string, string>;

describe("the proof of the key", () => {
  it("is an HMAC of both nonces, the worker's id and the side", () => {
    const worker = proveAsWorker(key, "w");
    const { nonce: ofWorker } = parse(worker.first);
    const hmac = (side: string, ofServer: string) =>
      createHmac("sha256", key)
        .update(`["push","${side}","${ofWorker}","${ofServer}","w"]`)
        .digest("hex");
    const last = worker.answer(JSON.stringify({ nonce: zeros, proof: hmac("server", zeros) }));
    expect(parse(last)).toEqual({ proof: hmac("worker", zeros) });

    const server = proveAsServer(key, worker.first);
    const { nonce, proof } = parse(server.answer);
    expect(proof).toBe(hmac("server", nonce!));
    server.check(worker.answer(server.answer));
    expect(server.worker).toBe("w");
  });

  it("of an earlier exchange is refused", () => {
    const worker = proveAsWorker(key, "w");
    const earlier = proveAsServer(key, worker.first);
    const last = worker.answer(earlier.answer);
    earlier.check(last);
    const again = proveAsServer(key, worker.first);
    expect(() => {
      again.check(last);
    }).toThrow("the worker does not know the key");
    expect(() => proveAsWorker(key, "w").answer(earlier.answer)).toThrow("the server does not");
  });

  it("is no use for the other side, which a stranger asks for it", () => {
    const server = proveAsServer(key, JSON.stringify({ worker: "w", nonce: zeros }));
    const { proof } = parse(server.answer);
    expect(() => {
      server.check(JSON.stringify({ proof }));
    }).toThrow("the worker does not know the key");
  });

  it.each([
    ["no JSON", "hello"],
    ["a credit", JSON.stringify({ credit: { q: 1 } })],
    ["a short nonce", JSON.stringify({ worker: "w", nonce: "ab" })],
    ["a further field", JSON.stringify({ worker: "w", nonce: zeros, reports: [] })],
    ["a long id", JSON.stringify({ worker: "w".repeat(501), nonce: zeros })],
  ])("does not begin with %s", (_what, line) => {
    expect(() => proveAsServer(key, line)).toThrow();
  });
});

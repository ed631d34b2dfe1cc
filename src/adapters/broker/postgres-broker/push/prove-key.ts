/**
 * How both ends of a connection within one machine prove that they know the server's key, in three lines:
 * the worker's nonce, the server's nonce with its proof, the worker's proof. A proof is an HMAC over both
 * nonces, the worker's id and the side that proves, so that none serves a second time or for the other side.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const hello = z.strictObject({ worker: z.string().max(500), nonce: hex });
const welcome = z.strictObject({ nonce: hex, proof: hex });
const proved = z.strictObject({ proof: hex });

/** No line of the three is longer. */
export const maxProofLength = 4000;

interface Exchange {
  readonly key: Buffer;
  readonly worker: string;
  readonly ofWorker: string;
  readonly ofServer: string;
}

function proofOf(side: "server" | "worker", { key, worker, ofWorker, ofServer }: Exchange): Buffer {
  const said = JSON.stringify(["push", side, ofWorker, ofServer, worker]);
  return createHmac("sha256", key).update(said).digest();
}

function expectProof(given: string, side: "server" | "worker", exchange: Exchange): void {
  if (timingSafeEqual(Buffer.from(given, "hex"), proofOf(side, exchange))) return;
  throw new Error(`the ${side} does not know the key`);
}

const newNonce = (): string => randomBytes(32).toString("hex");

/** Answers the first line, and what answers the server's line with the last one or throws. */
export function proveAsWorker(
  key: Buffer,
  worker: string,
): { readonly first: string; answer(line: string): string } {
  const ofWorker = newNonce();
  return {
    first: JSON.stringify({ worker, nonce: ofWorker } satisfies z.input<typeof hello>),
    answer(line) {
      const { nonce: ofServer, proof } = welcome.parse(JSON.parse(line));
      const exchange = { key, worker, ofWorker, ofServer };
      expectProof(proof, "server", exchange);
      const own = proofOf("worker", exchange).toString("hex");
      return JSON.stringify({ proof: own } satisfies z.input<typeof proved>);
    },
  };
}

/** Answers a worker's first line; `check` throws unless the worker's last line has its proof. */
export function proveAsServer(
  key: Buffer,
  line: string,
): { readonly worker: string; readonly answer: string; check(line: string): void } {
  const { worker, nonce: ofWorker } = hello.parse(JSON.parse(line));
  const ofServer = newNonce();
  const exchange = { key, worker, ofWorker, ofServer };
  const proof = proofOf("server", exchange).toString("hex");
  return {
    worker,
    answer: JSON.stringify({ nonce: ofServer, proof } satisfies z.input<typeof welcome>),
    check: (last) => {
      expectProof(proved.parse(JSON.parse(last)).proof, "worker", exchange);
    },
  };
}

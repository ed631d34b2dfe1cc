import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Transform } from "node:stream";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Storage } from "../../adapters/storage/storage.ts";
import { Problem } from "../../core/errors.ts";

/** Puts the body of a request into storage; the object appears when all of it has arrived. */
export async function writeStored(
  storage: Storage,
  name: string,
  body: Readable,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<{ path: string; bytes: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-put-"));
  try {
    const file = path.join(folder, "body");
    let bytes = 0;
    const limited = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        if (bytes <= maxBytes) done(null, chunk);
        else done(new Problem("PAYLOAD_TOO_LARGE", `An object has at most ${maxBytes} bytes.`));
      },
    });
    await pipeline(body, limited, createWriteStream(file), { signal });
    const stored = await storage.putFile(name, file);
    return { path: name, bytes: stored.bytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

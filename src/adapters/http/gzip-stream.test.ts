import fc from "fast-check";
import { execFileSync } from "node:child_process";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { GzipPart } from "./gzip-stream.ts";
import { GzipStream, gzipPart, plainPart } from "./gzip-stream.ts";

function streamOf(parts: readonly GzipPart[]): Buffer {
  const stream = new GzipStream();
  return Buffer.concat([stream.start(), ...parts.map((part) => stream.add(part)), stream.end()]);
}

const text = (length: number, seed: number) =>
  Buffer.from(Array.from({ length }, (_, at) => 97 + ((at * seed) % 23)));

describe("a gzip stream of shared parts", () => {
  it("is read by zlib as the parts one after the other, whichever they are", async () => {
    const data = [text(0, 1), text(1, 1), text(1023, 7), text(1024, 3), text(200_000, 5)];
    const parts = await Promise.all(data.map(gzipPart));
    fc.assert(
      fc.property(fc.array(fc.nat({ max: data.length - 1 }), { maxLength: 12 }), (order) => {
        const sent = streamOf(order.map((at) => parts[at]!));
        // zlib refuses a stream whose checksum or length is not that of its content.
        const read = gunzipSync(sent);
        // A comparison by element of long buffers takes seconds.
        expect(read.equals(Buffer.concat(order.map((at) => data[at]!)))).toBe(true);
      }),
    );
    expect(parts[4]!.bytes.length).toBeLessThan(2000);
  });

  it("is read by the gzip program", async () => {
    const data = Buffer.from("every watcher gets the same events\n".repeat(500));
    const sent = streamOf([await gzipPart(data), plainPart(Buffer.from(":\n\n"))]);
    const read = execFileSync("gzip", ["-dc"], { input: sent });
    expect(read.toString()).toBe(`${data.toString()}:\n\n`);
  });

  it("keeps the remainder of a length over 4 GiB", () => {
    const stream = new GzipStream();
    for (let n = 0; n < 5; n++) stream.add({ ...plainPart(Buffer.from("x")), length: 2 ** 30 });
    expect(Buffer.from(stream.end()).readUInt32LE(6)).toBe(2 ** 30);
  });
});

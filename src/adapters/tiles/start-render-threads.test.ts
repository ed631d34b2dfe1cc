import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { TiffSpec } from "../../../test/support/tiff.ts";
import { writeTiff } from "../../../test/support/tiff.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { Problem } from "../../core/errors.ts";
import { halfWorld, resolutionAt } from "../../core/serving/web-mercator.ts";
import { createLogger } from "../runtime/logger.ts";
import { createLocalStorage } from "../storage/local-storage.ts";
import type { ByteStore } from "./byte-source.ts";
import type { RenderThreads } from "./start-render-threads.ts";
import { startRenderThreads } from "./start-render-threads.ts";

let folder: string;
let threads: RenderThreads | undefined;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-render-"));
});
afterEach(async () => {
  await threads?.stop();
  await rm(folder, { recursive: true, force: true });
});

const log = createLogger({ name: "test", level: "silent", format: "json" });
const { signal } = new AbortController();
const fileOf = (name: string) => ({ path: name, version_tag: "1" });
const tileOf = (name: string) => ({
  file: fileOf(name),
  tile: { z: 0, x: 0, y: 0 },
  tileSize: 256,
  format: "png" as const,
  options: { resampling: "nearest" as const },
  mayPass: true,
});

/** The world in one tile, of one gray. */
function gray(value: number, more: Partial<TiffSpec> = {}): Uint8Array {
  const pixel = resolutionAt(0, 256);
  const size = { width: 256, height: 256, block: 256 };
  const bands = [new Uint8Array(65_536).fill(value)];
  const image = { ...size, bands, compression: "none" as const };
  const place = { epsg: 3857, origin: [-halfWorld, halfWorld], pixel: [pixel, pixel] } as const;
  return writeTiff({ images: [image], ...place, ...more });
}

async function firstPixel(picture: Uint8Array): Promise<number> {
  return (await sharp(picture).raw().toBuffer())[0]!;
}

/** Storage that is no folder: the threads ask for each part. */
function inMemory(files: Record<string, Uint8Array>): ByteStore & { reads: number } {
  const store = {
    reads: 0,
    head: async (name: string) => files[name] && { bytes: files[name].byteLength },
    readRange: async (name: string, offset: number, length: number) => {
      store.reads++;
      if (offset > 0 && name === "away") throw new Problem("UNAVAILABLE", "Storage is away.");
      return files[name]!.subarray(offset, offset + length);
    },
  };
  return store;
}

it("answers others while a thread is stuck in a read, and takes it up again", async () => {
  const storage = createLocalStorage(folder);
  await Promise.all(["silver/a.tif", "silver/b.tif"].map((name) => storage.put(name, gray(90))));
  threads = startRenderThreads(storage, log, { most: 2 });
  const { renderer } = threads;
  expect((await renderer.info({ file: fileOf("silver/a.tif") })).width).toBe(256);
  // A thread that opens a pipe for reading waits until another process opens it for writing.
  const pipe = (await storage.localPath("silver/a.tif"))!;
  await rm(pipe);
  execFileSync("mkfifo", [pipe]);
  const stuck = renderer.tile(tileOf("silver/a.tif"), signal).catch((error: unknown) => error);
  const made = await renderer.tile(tileOf("silver/b.tif"), signal);
  expect(await firstPixel(made.bytes)).toBe(90);
  const writer = await waitFor(
    () => open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined),
    { what: "the thread to open the pipe" },
  );
  await writer.close();
  expect(await stuck).toBeInstanceOf(Error);
  await rm(pipe);
  await storage.put("silver/a.tif", gray(91));
  expect(await firstPixel((await renderer.tile(tileOf("silver/a.tif"), signal)).bytes)).toBe(91);
});

it("reads other storage through the orchestrator, and passes its problems on", async () => {
  const files = { a: gray(7), away: gray(7, { metadata: " ".repeat(200_000) }) };
  const storage = inMemory(files);
  threads = startRenderThreads(storage, log, { most: 1 });
  const { renderer } = threads;
  const made = await renderer.tile(tileOf("a"), signal);
  expect([await firstPixel(made.bytes), storage.reads > 0]).toEqual([7, true]);
  await expect(renderer.info({ file: fileOf("away") })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "Storage is away.",
  });
  await expect(renderer.info({ file: fileOf("none") })).rejects.toBeInstanceOf(Problem);
  const left = new AbortController();
  const leaving = renderer.tile(tileOf("a"), left.signal);
  left.abort();
  await expect(leaving).rejects.toThrow(/abort/i);
});

it("answers 503 for what a thread had when it died, and starts another", async () => {
  const storage = inMemory({ a: gray(7) });
  threads = startRenderThreads(storage, log, {
    most: 1,
    resourceLimits: { maxOldGenerationSizeMb: 24 },
  });
  const { renderer } = threads;
  // More than the heap holds.
  const ring = Array.from({ length: 600_000 }, (_, index): [number, number] => [index, index]);
  const areas = [{ properties: {}, polygons: [[ring]] }];
  const task = { file: fileOf("a"), areas, bands: undefined, nodata: undefined };
  await expect(renderer.zones(task, signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    status: 503,
  });
  const made = await renderer.tile(tileOf("a"), signal);
  expect(await firstPixel(made.bytes)).toBe(7);
});

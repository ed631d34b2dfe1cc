import sharp from "sharp";
import { expect, it } from "vitest";
import { writeTiff } from "../../../test/support/tiff.ts";
import { halfWorld, resolutionAt } from "../../core/serving/web-mercator.ts";
import { createRenderer } from "./create-renderer.ts";
import { createMemory } from "./reuse-memory.ts";

const bufferOf = ({ buffer }: Uint8Array) => buffer;

it("gives each picture arrays apart from each other, and the next one the same memory", async () => {
  const useMemory = createMemory();
  const first = await useMemory(async (memory) => {
    const [bytes, floats] = [memory(Uint8Array, 10).fill(1), memory(Float64Array, 3).fill(0)];
    expect([bytes.length, floats.length, [...bytes]]).toEqual([10, 3, Array(10).fill(1)]);
    expect(floats.buffer).toBe(bytes.buffer);
    return bytes.buffer;
  });
  expect(await useMemory(async (memory) => bufferOf(memory(Uint8Array, 1)))).toBe(first);
});

it("gives pictures at once, and those after an error, memory of their own", async () => {
  const useMemory = createMemory();
  const take = () => useMemory(async (memory) => bufferOf(memory(Uint8Array, 1)));
  const [one, other] = await Promise.all([take(), take()]);
  expect(one).not.toBe(other);
  let failed: unknown;
  const failing = useMemory(async (memory) => {
    failed = bufferOf(memory(Uint8Array, 1));
    throw new Error("a damaged block");
  });
  await expect(failing).rejects.toThrow(/damaged/);
  expect([await take(), await take()]).not.toContain(failed);
});

it("makes arrays for what does not fit", async () => {
  const large = await createMemory()(async (memory) => memory(Uint8Array, 64 * 1024 * 1024));
  expect([large.length, large.buffer.byteLength]).toEqual([64 * 1024 * 1024, 64 * 1024 * 1024]);
});

it("leaves nothing of one tile in the next, which covers a part of it", async () => {
  const pixel = resolutionAt(0, 256);
  const fileAt = (north: number) => {
    const bands = [new Float32Array(65_536).fill(90)];
    const image = { width: 256, height: 256, block: 256, bands };
    const place = { epsg: 3857, origin: [-halfWorld, north], pixel: [pixel, pixel] } as const;
    return writeTiff({ images: [image], ...place });
  };
  const files = new Map([
    ["whole", fileAt(halfWorld)],
    ["half", fileAt(0)],
  ]);
  const storage = {
    head: async (name: string) => ({ bytes: files.get(name)!.length }),
    readRange: async (name: string, from: number, length: number) =>
      files.get(name)!.subarray(from, from + length),
  };
  const renderer = createRenderer(storage, 10_000_000);
  const draw = async (path: string) => {
    const file = { path, version_tag: "1" };
    const options = { resampling: "nearest", rescale: [[0, 255]] } as const;
    const task = { file, tile: { z: 0, x: 0, y: 0 }, tileSize: 256, options, mayPass: false };
    const { bytes } = await renderer.tile({ ...task, format: "png" }, new AbortController().signal);
    const pixels = await sharp(bytes).ensureAlpha().raw().toBuffer();
    return [10, 245].map((row) => [...pixels.subarray(1024 * row, 1024 * row + 4)]);
  };
  const [gray, clear] = [
    [90, 90, 90, 255],
    [0, 0, 0, 0],
  ] as const;
  expect(await draw("whole")).toEqual([gray, gray]);
  expect(await draw("half")).toEqual([clear, gray]);
});

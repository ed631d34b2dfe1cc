/** Blocks of strangers: every codec against GDAL's pixels, and blocks that claim far too much. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { deflateSync } from "node:zlib";
import { Tiff } from "@cogeotiff/core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/fixtures.ts";
import { writeTiff } from "../../../test/support/tiff.ts";
import { createGdal } from "../gdal/create-gdal.ts";
import type { Gdal } from "../gdal/gdal.ts";
import { decodeBlock } from "./decode-block.ts";
import { openFile } from "./open-file.ts";
import { createBlockCache, readBytes, readWindow } from "./read-window.ts";
import { unpackBlock } from "./unpack-block.ts";

let folder: string;
let gdal: Gdal;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-blocks-"));
  gdal = await createGdal();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function open(bytes: Uint8Array) {
  const source = {
    url: new URL("file:///block.tif"),
    fetch: async (offset: number, length?: number) =>
      Uint8Array.from(bytes.subarray(offset, length && offset + length)).buffer,
  };
  const [image] = (await Tiff.create(source)).images;
  return { image: image!, block: (await readBytes(image!, 0))! };
}

async function translate(source: string, name: string, ...options: string[]) {
  const file = path.join(folder, name);
  const args = ["-q", "-of", "GTiff", "-co", "TILED=YES", ...options, source, file];
  await gdal.run("gdal_translate", args, {
    workDir: folder,
    sources: [source],
    drivers: ["GTiff"],
  });
  return open(await readFile(file));
}

const codecs = ["LZW", "PACKBITS", "ZSTD", "LERC", "LERC_DEFLATE", "LERC_ZSTD"];

describe.each(codecs)("a block in %s", (codec) => {
  const source = fixture("raster/dem_float32_epsg2056.tif");
  const compressed = ["-co", `COMPRESS=${codec}`];

  it("has the pixels that GDAL wrote", async ({ skip }) => {
    if (!gdal.capabilities.codecs.includes(codec)) return skip();
    const size = ["-co", "BLOCKXSIZE=128", "-co", "BLOCKYSIZE=128"];
    const plain = await translate(source, `plain_${codec}.tif`, ...size);
    const packed = await translate(source, `${codec}.tif`, ...size, ...compressed);
    const compression = packed.image.value(259)!;
    const made = await unpackBlock(packed.image, compression, packed.block, 128 * 128 * 4);
    expect(Buffer.compare(Buffer.from(made), Buffer.from(plain.block))).toBe(0);
  });

  it("takes no more memory than its pixels, whatever it holds", async ({ skip }) => {
    if (!gdal.capabilities.codecs.includes(codec)) return skip();
    // A block of 1024 pixels square as that of a file whose blocks have 16.
    const size = ["-co", "BLOCKXSIZE=1024", "-co", "BLOCKYSIZE=1024", "-outsize", "1024", "1024"];
    const large = await translate(source, `large_${codec}.tif`, ...size, ...compressed);
    const expected = 16 * 16 * 4;
    const compression = large.image.value(259)!;
    const length = await unpackBlock(large.image, compression, large.block, expected).then(
      (made) => made.length,
      () => 0,
    );
    expect(length).toBeLessThanOrEqual(expected);
  });
});

describe("the pixels of a raster of 37 × 29", () => {
  const [width, height] = [37, 29];
  const kinds = {
    Byte: [2, Uint8Array],
    UInt16: [2, Uint16Array],
    Int16: [2, Int16Array],
    UInt32: [2, Uint32Array],
    Int32: [2, Int32Array],
    Float32: [3, Float32Array],
    Float64: [3, Float64Array],
  } as const;
  type Kind = keyof typeof kinds;
  const drivers = ["GTiff", "ENVI"];

  /** Two bands whose values tell their place, below zero and with fractions. */
  async function makeSource(): Promise<string> {
    const band = (start: number) =>
      Float64Array.from({ length: width * height }, (_, index) => start + index / 4);
    const file = path.join(folder, "slope.tif");
    const image = { width, height, block: 64, bands: [band(-100), band(20)] };
    const place = { epsg: 32633, origin: [500_000, 5_500_000], pixel: [10, 10] } as const;
    await writeFile(file, writeTiff({ images: [image], ...place }));
    return file;
  }

  it.each(Object.keys(kinds) as Kind[])("are GDAL's, of type %s in any layout", async (type) => {
    const source = await makeSource();
    const [predictor, Numbers] = kinds[type];
    const run = (...args: string[]) =>
      gdal.run("gdal_translate", ["-q", "-ot", type, ...args], { workDir: folder, drivers });
    const raw = path.join(folder, "pixels.raw");
    await run("-of", "ENVI", "-co", "INTERLEAVE=BSQ", source, raw);
    const wanted = [...new Numbers(Uint8Array.from(await readFile(raw)).buffer)];
    const layouts = [
      ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", `PREDICTOR=${predictor}`],
      ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=16", "INTERLEAVE=BAND", "PREDICTOR=2"],
      ["BLOCKYSIZE=8", "PREDICTOR=1"],
    ];
    for (const layout of layouts) {
      const file = path.join(folder, "pixels.tif");
      const options = ["COMPRESS=DEFLATE", ...layout].flatMap((option) => ["-co", option]);
      await run("-of", "GTiff", ...options, source, file);
      const opened = await openFile(file, {});
      const { raster } = opened;
      const window = { left: 0, top: 0, width, height };
      const asked = { level: raster.levels[0], window, bands: [1, 2] };
      const { bands } = await readWindow(raster, asked, createBlockCache(1_000_000));
      await opened.close();
      expect([...bands[0]!, ...bands[1]!], layout.join(" ")).toEqual(wanted);
    }
  });
});

describe("a block that is no picture of its size", () => {
  const shape = {
    width: 256,
    height: 256,
    samples: 3,
    sampleType: "uint8",
    sampleBytes: 1,
    isLittleEndian: true,
  } as const;
  const encoded = (compression: number, block: Uint8Array, size = 256) => {
    const band = new Uint8Array(size * size);
    const image = { width: size, height: size, block: size, bands: [band, band, band] };
    return open(writeTiff({ images: [{ ...image, encoded: { compression, blocks: [block] } }] }));
  };

  const picture = (side: number) => {
    const create = { width: side, height: side, channels: 3, background: "#123456" } as const;
    return sharp({ create }).jpeg({ quality: 1 }).toBuffer();
  };

  it("is refused: a JPEG of 4,000 pixels square in a block of 256", async () => {
    const good = await encoded(7, await picture(256));
    expect(await decodeBlock(good.image, good.block, shape)).toHaveLength(256 * 256 * 3);
    const { image, block } = await encoded(7, await picture(4000));
    await expect(decodeBlock(image, block, shape)).rejects.toMatchObject({
      code: "LAYER_UNREADABLE",
      message: expect.stringContaining("pixel limit") as string,
    });
  });

  it("is refused: deflated zeros of 10 MiB in a block of 256", async () => {
    const { image, block } = await encoded(8, deflateSync(Buffer.alloc(10 * 1024 * 1024)));
    await expect(decodeBlock(image, block, shape)).rejects.toMatchObject({
      code: "LAYER_UNREADABLE",
    });
  });

  it("is refused: blocks of 60,000 pixels square", async () => {
    const { image, block } = await encoded(8, deflateSync(Buffer.alloc(1024)));
    const wide = { ...shape, width: 60_000, height: 60_000 };
    await expect(decodeBlock(image, block, wide)).rejects.toMatchObject({
      code: "LAYER_UNREADABLE",
    });
  });
});

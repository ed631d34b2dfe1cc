/** Statistics and samples of whole files, as threads read them, against GDAL's. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeTiff } from "../../../test/support/tiff.ts";
import { createGdal } from "../gdal/create-gdal.ts";
import type { Gdal } from "../gdal/gdal.ts";
import { findPlainBlocks } from "./find-plain-blocks.ts";
import { readAllBlocks } from "./read-all-blocks.ts";

const [width, height] = [517, 389];
const { signal } = new AbortController();
let folder: string;
let gdal: Gdal;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-all-blocks-"));
  gdal = await createGdal();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const drivers = ["GTiff", "ENVI"];

async function translate(name: string, bands: number, ...options: string[]): Promise<string> {
  const numbers = (start: number) =>
    Float64Array.from({ length: width * height }, (_, index) =>
      index % 11 === 0 ? -9 : start + ((index * 7919) % 100_003) / 512,
    );
  const source = path.join(folder, `source_${bands}.tif`);
  const all = Array.from({ length: bands }, (_, band) => numbers(20 * band));
  const image = { width, height, block: 64, bands: all };
  const place = { epsg: 32633, origin: [500_000, 5_500_000], pixel: [10, 10] } as const;
  await writeFile(source, writeTiff({ images: [image], ...place }));
  const file = path.join(folder, `${name}.tif`);
  const args = ["-q", "-of", "GTiff", ...options, source, file];
  await gdal.run("gdal_translate", args, { workDir: folder, drivers });
  return file;
}

const tiles = ["-co", "TILED=YES", "-co", "BLOCKXSIZE=128", "-co", "BLOCKYSIZE=64"];
const deflate = (predictor: number) => ["-co", "COMPRESS=DEFLATE", "-co", `PREDICTOR=${predictor}`];
const hole = ["-a_nodata", "-9"];

describe("every block of a plain TIFF", () => {
  it.each([
    ["floats in strips", 1, ["-ot", "Float32", ...deflate(3), ...hole]],
    ["floats in tiles", 2, ["-ot", "Float32", ...tiles, ...deflate(3), ...hole]],
    ["doubles", 1, ["-ot", "Float64", ...deflate(2), ...hole]],
    ["whole numbers", 3, ["-ot", "Int16", ...tiles, ...deflate(2), ...hole]],
    ["whole numbers of 32 bits", 1, ["-ot", "Int32", ...deflate(1)]],
    ["bytes as they are", 3, ["-ot", "Byte", "-co", "BLOCKYSIZE=100"]],
  ])("gives GDAL's statistics and sample: %s", async (name, bands, options) => {
    const file = await translate(name, bands, ...options);
    const blocks = await findPlainBlocks(file);
    const read = await readAllBlocks(blocks!, [57, 43], signal);
    const args = ["-json", "-stats", file];
    const env = { GDAL_PAM_ENABLED: "NO" };
    const { stdout } = await gdal.run("gdalinfo", args, { workDir: folder, drivers, env });
    const told = (JSON.parse(stdout) as Described).bands.map(({ metadata }) => metadata[""]);
    expect(read!.statistics).toHaveLength(bands);
    for (const [band, found] of read!.statistics.entries()) {
      const of = (key: string) => Number(told[band]![`STATISTICS_${key}`]);
      expect(found!.minimum).toBe(of("MINIMUM"));
      expect(found!.maximum).toBe(of("MAXIMUM"));
      expect(found!.mean).toBeCloseTo(of("MEAN"), 9);
      expect(found!.stddev).toBeCloseTo(of("STDDEV"), 9);
      expect(found!.valid_percent).toBe(of("VALID_PERCENT"));
    }
    expect(read!.reduced!.map((values) => [...values])).toEqual(await sample(file, bands));
  });

  it("is GDAL's to read where one is damaged or a number is infinite", async () => {
    const file = await translate("damaged", 1, "-ot", "Float32", ...tiles, ...deflate(3));
    const bytes = await readFile(file);
    const whole = (await findPlainBlocks(file))!;
    const last = whole.offsets.length - 1;
    bytes.fill(7, whole.offsets[last]! + 20, whole.offsets[last]! + 40);
    await writeFile(file, bytes);
    expect(await readAllBlocks(whole, undefined, signal)).toBeUndefined();
    const infinite = Float32Array.of(1, 2, Infinity, 4);
    const image = { width: 2, height: 2, block: 16, bands: [infinite] };
    await writeFile(file, writeTiff({ images: [image] }));
    const found = await findPlainBlocks(file);
    expect(found?.sampleType).toBe("float32");
    expect(await readAllBlocks(found!, undefined, signal)).toBeUndefined();
  });

  it("stops with its task", async () => {
    const file = await translate("stopped", 1, "-ot", "Float32");
    const stopped = AbortSignal.abort(new Error("stopped by a user"));
    const reading = readAllBlocks((await findPlainBlocks(file))!, undefined, stopped);
    await expect(reading).rejects.toThrow("stopped by a user");
  });
});

interface Described {
  readonly bands: readonly { readonly metadata: { readonly "": Record<string, string> } }[];
}

/** The same pixels as GDAL picks them, in 64 bits. */
async function sample(file: string, bands: number): Promise<number[][]> {
  const raw = path.join(folder, "sample.raw");
  const size = ["-r", "nearest", "-outsize", "57", "43", "-ot", "Float64"];
  const args = ["-q", "-of", "ENVI", "-co", "INTERLEAVE=BSQ", ...size, file, raw];
  await gdal.run("gdal_translate", args, { workDir: folder, drivers });
  const values = new Float64Array(Uint8Array.from(await readFile(raw)).buffer);
  const pixels = values.length / bands;
  return Array.from({ length: bands }, (_, band) => [
    ...values.subarray(band * pixels, (band + 1) * pixels),
  ]);
}

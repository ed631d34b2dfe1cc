import { execFile } from "node:child_process";
import { copyFile, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/fixtures.ts";
import { findNativeGdal } from "../gdal/native-gdal.ts";
import { readTiffStructure } from "./read-tiff-structure.ts";
import { inspectCog } from "./inspect-cog.ts";

const run = promisify(execFile);
const native = await findNativeGdal(["/usr/bin"]);
const script = ["-m", "osgeo_utils.samples.validate_cloud_optimized_geotiff"];
const hasScript = await run("/usr/bin/python3", ["-c", "import osgeo_utils.samples"]).then(
  () => true,
  () => false,
);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-cog-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What GDAL 3.6.2's script said: errors and warnings. */
const recorded: Readonly<Record<string, readonly [errors: number, warnings: number]>> = {
  "all_nodata.tif": [2, 1],
  "antimeridian_utm60.tif": [0, 0],
  "cog_no_overview.tif": [0, 1],
  "complex_float32.tif": [2, 0],
  "crs_without_code.tif": [0, 0],
  "dem_float32_epsg2056.tif": [0, 0],
  // The script also compares places in the file with places in its .ovr, and finds two more.
  "external_overview.tif": [1, 0],
  "float64_nan.tif": [2, 0],
  "flood_tile_3600.tif": [0, 0],
  "header_bomb_65535.tif": [1, 1],
  "jpeg_cog.tif": [0, 0],
  "jpeg_cog_corrupt_block.tif": [0, 0],
  "nodata_unset.tif": [2, 0],
  "overviews_unsorted.tif": [5, 0],
  "palette_custom_laea.tif": [3, 1],
  "rgb_utm18_nodata0.tif": [2, 1],
  "rgba_uint16.tif": [0, 1],
  "rotated_no_crs.tif": [0, 0],
  "truncated.tif": [0, 0],
  "valid_cog_uint16.tif": [0, 0],
};

describe("real rasters", () => {
  const rasters = fixture("raster");

  it("get the verdicts that GDAL's script gave", async () => {
    const verdicts: Record<string, readonly number[]> = {};
    for (const name of (await readdir(rasters)).filter((each) => each.endsWith(".tif"))) {
      const { errors, warnings, valid } = await inspectCog(path.join(rasters, name));
      verdicts[name] = [errors.length, warnings.length];
      expect(valid).toBe(errors.length === 0);
    }
    expect(verdicts).toEqual(recorded);
  });

  it.skipIf(!hasScript)("and that it gives now (needs the Python scripts of GDAL)", async () => {
    for (const name of Object.keys(recorded)) {
      const file = path.join(rasters, name);
      expect({ name, valid: await asksScript(file) }).toEqual({
        name,
        valid: (await inspectCog(file)).valid,
      });
    }
  });
});

describe.skipIf(native === undefined)("what GDAL makes (needs GDAL)", () => {
  const gdal = native!;
  beforeAll(async () => {
    const rows = Array.from({ length: 1500 }, (_, y) =>
      Array.from({ length: 1500 }, (_, x) => (x < 300 ? -1 : (x * 7 + y * 13) % 251)).join(" "),
    );
    const head = "ncols 1500\nnrows 1500\nxllcorner 0\nyllcorner 0\ncellsize 10\nNODATA_value -1\n";
    await writeFile(path.join(folder, "grid.asc"), head + rows.join("\n"));
    const byte = ["-ot", "Byte", "-b", "1", "-b", "1", "-b", "1", "-mask", "1"];
    await translate(["-co", "COMPRESS=DEFLATE", "-of", "COG"], "grid.asc", "cog.tif");
    await translate([...byte, "-co", "COMPRESS=JPEG", "-of", "COG"], "grid.asc", "mask.tif");
    await translate(["-co", "BIGTIFF=YES", "-of", "COG"], "grid.asc", "big.tif");
    await translate(["-co", "ENDIANNESS=BIG", "-co", "TILED=YES"], "grid.asc", "motorola.tif");
    await translate(["-co", "SPARSE_OK=TRUE", "-of", "COG"], "grid.asc", "sparse.tif");
    await translate([], "grid.asc", "strips.tif");
  });
  const translate = (options: string[], from: string, to: string) =>
    gdal.run("gdal_translate", ["-q", ...options, from, to], { workDir: folder });

  it.each(["cog.tif", "mask.tif", "big.tif", "sparse.tif", "motorola.tif", "strips.tif"])(
    "%s is judged as GDAL's script judges it",
    async (name) => {
      const file = path.join(folder, name);
      const { valid, structure } = await inspectCog(file);
      expect(valid).toBe(name !== "strips.tif");
      expect(structure?.images[0]).toMatchObject({ width: 1500, height: 1500 });
      if (hasScript) expect(await asksScript(file)).toBe(valid);
    },
  );

  it("finds every promise that a changed file breaks, as the script does", async () => {
    const { structure } = await inspectCog(path.join(folder, "mask.tif"));
    const block = structure?.images[0].block_offsets[3] ?? 0;
    const bytes = structure?.images[0].block_bytes[3] ?? 0;
    const ghost = 8 + 43;
    const text = structure?.ghost ?? "";
    const changes: [string, number, string][] = [
      ["BLOCK_LEADER", block - 4, "\u0001\u0002\u0003\u0004"],
      ["BLOCK_TRAILER", block + bytes, "\u0001\u0002\u0003\u0004"],
      ["KNOWN_INCOMPATIBLE_EDITION", ghost + text.indexOf("EDITION=NO") + 8, "YES\n"],
      ["MAIN_IFD_OFFSET", ghost - 43, "x"],
    ];
    for (const [code, at, written] of changes) {
      const file = path.join(folder, `broken-${code}.tif`);
      await copyFile(path.join(folder, "mask.tif"), file);
      const handle = await open(file, "r+");
      await handle.write(Buffer.from(written, "latin1"), 0, written.length, at);
      await handle.close();
      const { valid, errors } = await inspectCog(file);
      expect({ code, valid, codes: errors.map((error) => error.code) }).toEqual({
        code,
        valid: false,
        codes: [code],
      });
      if (hasScript) expect(await asksScript(file)).toBe(false);
    }
  });

  it("sees that overviews lie in a file beside it", async () => {
    const file = path.join(folder, "beside.tif");
    await translate(["-co", "TILED=YES"], "grid.asc", "beside.tif");
    await copyFile(file, `${file}.ovr`);
    const { errors } = await inspectCog(file);
    expect(errors.map((error) => error.code)).toContain("EXTERNAL_OVERVIEWS");
  });
});

async function asksScript(file: string): Promise<boolean> {
  return run("/usr/bin/python3", [...script, "-q", file]).then(
    () => true,
    () => false,
  );
}

describe("files that lie about themselves", () => {
  it("are refused by what they are, and nothing is allocated for what they claim", async () => {
    const cases: [string, Buffer, string][] = [
      ["text", Buffer.from("hello, I am a picture"), "NOT_A_TIFF"],
      ["nothing", Buffer.alloc(0), "NOT_A_TIFF"],
      ["a header alone", tiff([]).subarray(0, 8), "TIFF_DAMAGED"],
      ["a directory beyond the end", tiff([], { first: 1_000_000 }), "TIFF_DAMAGED"],
      ["too many fields", tiff([], { claims: 65_535 }), "TIFF_DAMAGED"],
      ["no size", tiff([[256, 4, 1, 0]]), "TIFF_DAMAGED"],
      // Four thousand million offsets in a file of a few bytes.
      ["offsets without end", tiff([...image, [273, 4, 0xffffffff, 8]]), "TIFF_DAMAGED"],
      ["blocks without end", tiff([...huge, [324, 4, 0xffffffff, 8]]), "TIFF_TOO_LARGE"],
    ];
    for (const [what, bytes, code] of cases) {
      const file = path.join(folder, "lying.tif");
      await writeFile(file, bytes);
      const before = process.memoryUsage().arrayBuffers;
      const { valid, errors } = await inspectCog(file);
      expect({ what, valid, codes: errors.map((error) => error.code) }).toEqual({
        what,
        valid: false,
        codes: [code],
      });
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    }
  });

  it("end where their chain of directories comes back to itself", async () => {
    const bytes = tiff([...image], { next: 8 });
    const { images } = await readTiffStructure(asSource(bytes));
    expect(images).toHaveLength(1);
  });

  it("are no surprise when they are cut off anywhere", async () => {
    const whole = tiff([...image, [273, 4, 1, 8], [279, 4, 1, 4]]);
    for (let length = 0; length < whole.length; length++) {
      const cut = readTiffStructure(asSource(whole.subarray(0, length)));
      await cut.catch((error: unknown) => {
        expect(error).toMatchObject({ category: "permanent" });
      });
    }
  });
});

type Field = readonly [tag: number, type: number, count: number, value: number];
const image: readonly Field[] = [
  [256, 4, 1, 60_000],
  [257, 4, 1, 60_000],
  [278, 4, 1, 1],
];
const huge: readonly Field[] = [
  [256, 4, 1, 0x7fffffff],
  [257, 4, 1, 0x7fffffff],
  [322, 4, 1, 16],
  [323, 4, 1, 16],
];

function tiff(
  fields: readonly Field[],
  { first = 8, next = 0, claims = fields.length } = {},
): Buffer {
  const bytes = Buffer.alloc(8 + 2 + fields.length * 12 + 4);
  bytes.write("II*\0", "latin1");
  bytes.writeUInt32LE(first, 4);
  bytes.writeUInt16LE(claims, 8);
  fields.forEach(([tag, type, count, value], index) => {
    const at = 10 + index * 12;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(type, at + 2);
    bytes.writeUInt32LE(count, at + 4);
    bytes.writeUInt32LE(value, at + 8);
  });
  bytes.writeUInt32LE(next, bytes.length - 4);
  return bytes;
}

const asSource = (bytes: Buffer) => ({
  size: bytes.length,
  read: async (offset: number, length: number) => bytes.subarray(offset, offset + length),
});

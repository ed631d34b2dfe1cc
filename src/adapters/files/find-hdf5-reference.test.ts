import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/fixtures.ts";
import { Random } from "../../../test/support/random.ts";
import { createGdal } from "../gdal/create-gdal.ts";
import { checkRasterFile } from "./check-raster-file.ts";
import { findHdf4Reference } from "./find-hdf4-reference.ts";
import { findHdf5Reference } from "./find-hdf5-reference.ts";

const names = (await readdir(fixture("attacks"))).filter((name) => /\.(h5|nc)$/.test(name));
const isWhole = (name: string) => name.startsWith("whole");
const read = (name: string) => readFile(fixture(`attacks/${name}`));

function sourceOf(bytes: Uint8Array) {
  return {
    size: bytes.length,
    read: async (at: number, length: number) => bytes.subarray(at, at + length),
  };
}

describe("an HDF5 file of h5py or netCDF4", () => {
  it.each(names.filter((name) => !isWhole(name)))("that refers to another: %s", async (name) => {
    const { driver, problem } = await checkRasterFile(fixture(`attacks/${name}`));
    expect({ driver, code: problem?.code }).toEqual({ driver: "HDF5", code: "EXTERNAL_REFERENCE" });
    expect(problem?.message).toMatch(/another file|other files/);
  });

  it.each([...names.filter(isWhole).map((name) => `attacks/${name}`), "families/weather4.nc"])(
    "that holds all of its data: %s",
    async (name) => {
      expect((await checkRasterFile(fixture(name))).problem).toBeUndefined();
    },
  );

  it("that is cut off is never taken for one without references", async () => {
    for (const name of names.filter((each) => !isWhole(each))) {
      const bytes = await read(name);
      for (let length = 9; length < bytes.length; length += 41) {
        const problem = await findHdf5Reference(sourceOf(bytes.subarray(0, length)));
        expect([name, length, problem?.code]).toEqual([name, length, "EXTERNAL_REFERENCE"]);
      }
    }
  });

  it("that is damaged anywhere gets an answer", async () => {
    const random = new Random(5);
    for (const name of names.filter((each) => each !== "whole_many.h5")) {
      const bytes = await read(name);
      for (let round = 0; round < 60; round += 1) {
        const damaged = Buffer.from(bytes);
        for (let count = 0; count < 20; count += 1) {
          damaged[8 + random.int(bytes.length - 8)] = random.int(256);
        }
        const problem = await findHdf5Reference(sourceOf(damaged));
        expect([undefined, "EXTERNAL_REFERENCE"]).toContain(problem?.code);
      }
    }
  });

  it("whose addresses begin elsewhere, or whose groups lead in a circle, ends the check", async () => {
    const moved = await read("whole_latest.h5");
    moved.writeUInt8(1, 12);
    expect(await findHdf5Reference(sourceOf(moved))).toMatchObject({
      message: expect.stringContaining("do not begin at its start") as string,
    });
    const old = await read("whole.h5");
    const tree = old.indexOf("TREE");
    old.writeBigUInt64LE(BigInt(tree), tree + 16);
    expect(await findHdf5Reference(sourceOf(old))).toBeUndefined();
  });
});

describe("an HDF4 file", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "rmhdag-hdf4-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** One block of descriptors: an element of the given kind, and where the next block is. */
  function write(kind: number, next: number): Buffer {
    const bytes = Buffer.alloc(64);
    bytes.writeUInt32BE(0x0e031301, 0);
    bytes.writeUInt16BE(1, 4);
    bytes.writeUInt32BE(next, 6);
    bytes.writeUInt16BE(0x4000 | 702, 10);
    bytes.writeUInt32BE(40, 14);
    bytes.writeUInt32BE(24, 18);
    bytes.writeUInt16BE(kind, 40);
    return bytes;
  }

  it("with an external element is refused, as is a damaged one", async () => {
    const external = 2;
    const compressed = 3;
    const codeOf = async (bytes: Buffer) => (await findHdf4Reference(sourceOf(bytes)))?.code;
    expect(await codeOf(write(external, 0))).toBe("EXTERNAL_REFERENCE");
    expect(await codeOf(write(compressed, 0))).toBeUndefined();
    expect(await codeOf(write(compressed, 4))).toBe("EXTERNAL_REFERENCE");
    expect(await codeOf(write(compressed, 1000))).toBe("EXTERNAL_REFERENCE");
    expect(await codeOf(write(external, 0).subarray(0, 30))).toBe("EXTERNAL_REFERENCE");
  });

  it("that GDAL writes is taken", async () => {
    const gdal = await createGdal();
    if (!gdal.capabilities.rasterDrivers.includes("HDF4Image")) return;
    const source = fixture("families/one_pixel.tif");
    const file = path.join(folder, "made.hdf");
    const drivers = ["GTiff", "HDF4", "HDF4Image"];
    const options = { workDir: folder, sources: [source], drivers };
    await gdal.run("gdal_translate", ["-q", "-of", "HDF4Image", source, file], options);
    expect(await checkRasterFile(file)).toMatchObject({ driver: "HDF4", problem: undefined });
  });
});

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRasterServer } from "../../../test/support/raster-server.ts";
import type { TiffSpec } from "../../../test/support/tiff.ts";
import { writeTiff } from "../../../test/support/tiff.ts";
import type { RasterLayer } from "../../core/serving/layer.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import { halfWorld, resolutionAt } from "../../core/serving/web-mercator.ts";
import type { DiskCache } from "./disk-cache.ts";
import { createDiskCache } from "./disk-cache.ts";

let folder: string;
const disks: DiskCache[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-tiles-"));
});
afterEach(async () => {
  await Promise.all(disks.splice(0).map((disk) => disk.settled()));
  await rm(folder, { recursive: true, force: true });
});

const nearest: RenderOptions = { resampling: "nearest" };

/** Files in memory, and how often they were read. A cache with a name is shared. */
function serve(files: Record<string, TiffSpec | Uint8Array>, cache: string = randomUUID()) {
  const reads: string[] = [];
  const stored = new Map(
    Object.entries(files).map(([name, file]) => [
      name,
      file instanceof Uint8Array ? file : writeTiff(file),
    ]),
  );
  const disk = createDiskCache(path.join(folder, cache), 10_000_000);
  disks.push(disk);
  const server = createRasterServer({
    disk,
    storage: {
      head: async (name) => {
        const found = stored.get(name);
        return found && { bytes: found.byteLength };
      },
      readRange: async (name, offset, length) => {
        reads.push(`${offset}+${length}`);
        return stored.get(name)!.subarray(offset, offset + length);
      },
    },
  });
  return { server, reads, disk };
}

function layer(name: string, version = "1"): RasterLayer {
  const common = { title: name, bounds: [0, 0, 1, 1] as const, style: null };
  return { kind: "raster", path: name, data_path: name, version_tag: version, ...common };
}

async function look(bytes: Uint8Array) {
  const { data, info } = await sharp(bytes)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [
    ...data.subarray(4 * (y * info.width + x), 4 * (y * info.width + x) + 4),
  ];
  return { ...info, at };
}

const request = (
  options: Partial<RenderOptions> = {},
  format: "png" | "auto" | "jpeg" = "png",
) => ({
  options: { ...nearest, ...options },
  format,
  tileSize: 256,
  signal: new AbortController().signal,
});

/** 512 × 512 in web mercator at zoom 1: the value of a pixel is its column / 4 + row / 4. */
function slope(type: "byte" | "float", more: object = {}): TiffSpec {
  const size = 512;
  const values = (width: number) =>
    Array.from({ length: width * width }, (_, index) => {
      const scale = size / width;
      return Math.floor((((index % width) + Math.floor(index / width)) * scale) / 4);
    });
  const make = (width: number) =>
    type === "byte" ? Uint8Array.from(values(width)) : Float32Array.from(values(width));
  const image = (width: number, kind: number) => ({
    width,
    height: width,
    block: 256,
    bands: [make(width)],
    kind,
    ...more,
  });
  const pixel = resolutionAt(1);
  return {
    images: [image(size, 0), image(size / 2, 1)],
    epsg: 3857,
    origin: [-halfWorld, halfWorld],
    pixel: [pixel, pixel],
  };
}

describe("a tile", () => {
  it.each([
    ["bytes", slope("byte")],
    ["bytes without compression", slope("byte", { compression: "none" })],
    ["bytes as differences", slope("byte", { predictor: 2 })],
    ["bytes in big-endian order", { ...slope("byte"), bigEndian: true }],
  ])("shows %s pixel by pixel", async (_what, spec) => {
    const { server } = serve({ a: spec });
    const picture = await look(await server.tile(layer("a"), { z: 1, x: 1, y: 0 }, request()));
    expect([picture.width, picture.height]).toEqual([256, 256]);
    expect(picture.at(0, 0)).toEqual([64, 64, 64, 255]);
    expect(picture.at(100, 60)).toEqual([104, 104, 104, 255]);
    const whole = await look(await server.tile(layer("a"), { z: 0, x: 0, y: 0 }, request()));
    expect(whole.at(100, 60)).toEqual([80, 80, 80, 255]);
  });

  it.each([
    ["floats", slope("float")],
    ["floats as differences of their bytes", slope("float", { predictor: 3 })],
    ["floats in big-endian order", { ...slope("float"), bigEndian: true }],
  ])("shows %s within a range", async (_what, spec) => {
    const { server } = serve({ a: spec });
    const options = { rescale: [[0, 510]] as const };
    const bytes = await server.tile(layer("a"), { z: 1, x: 1, y: 0 }, request(options));
    expect((await look(bytes)).at(100, 60)).toEqual([52, 52, 52, 255]);
  });

  it("finds a range by itself where values are not bytes", async () => {
    const { server } = serve({ a: slope("float") });
    const picture = await look(await server.tile(layer("a"), { z: 0, x: 0, y: 0 }, request()));
    expect(picture.at(0, 0)[0]).toBe(0);
    expect(picture.at(255, 255)[0]).toBe(255);
    expect(picture.at(128, 128)[0]).toBeGreaterThan(110);
    expect(picture.at(128, 128)[0]).toBeLessThan(145);
  });

  it("reads the overview that fits, and not the full size", async () => {
    const spec = slope("byte");
    const [full, overview] = spec.images;
    const black = { ...full!, bands: [new Uint8Array(512 * 512)] };
    const white = { ...overview!, bands: [new Uint8Array(256 * 256).fill(255)] };
    const { server } = serve({ a: { ...spec, images: [black, white] } });
    const small = await look(await server.tile(layer("a"), { z: 0, x: 0, y: 0 }, request()));
    const large = await look(await server.tile(layer("a"), { z: 1, x: 0, y: 0 }, request()));
    expect([small.at(9, 9)[0], large.at(9, 9)[0]]).toEqual([255, 0]);
  });

  it("is transparent where the layer ends, and elsewhere altogether", async () => {
    const spec = slope("byte");
    const { server } = serve({ a: { ...spec, origin: [0, 0] } });
    const nothing = await look(await server.tile(layer("a"), { z: 1, x: 0, y: 0 }, request()));
    expect(nothing.at(128, 128)).toEqual([0, 0, 0, 0]);
    const partly = await look(await server.tile(layer("a"), { z: 0, x: 0, y: 0 }, request()));
    expect([partly.at(200, 100)[3], partly.at(200, 200)[3]]).toEqual([0, 255]);
  });

  it("is JPEG where nothing is transparent and PNG elsewhere, unless a format is asked for", async () => {
    const { server } = serve({ a: { ...slope("byte"), nodata: "64" } });
    const kind = async (x: number, format: "auto" | "jpeg") =>
      (
        await sharp(
          await server.tile(layer("a"), { z: 1, x, y: 0 }, request({}, format)),
        ).metadata()
      ).format;
    expect(await kind(1, "auto")).toBe("png");
    expect(await kind(1, "jpeg")).toBe("jpeg");
    const solid = serve({ b: slope("byte") });
    const bytes = await solid.server.tile(layer("b"), { z: 1, x: 1, y: 0 }, request({}, "auto"));
    expect((await sharp(bytes).metadata()).format).toBe("jpeg");
  });

  it("does not exist beyond the world", async () => {
    const { server } = serve({ a: slope("byte") });
    await expect(server.tile(layer("a"), { z: 1, x: 2, y: 0 }, request())).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("what counts as nothing", () => {
  const at = async (spec: TiffSpec, options: Partial<RenderOptions> = {}) => {
    const { server } = serve({ a: spec });
    return (await look(await server.tile(layer("a"), { z: 1, x: 0, y: 0 }, request(options)))).at;
  };

  it("is the file's nodata value, or the one that is asked for", async () => {
    expect((await at({ ...slope("byte"), nodata: "10" }))(20, 20)).toEqual([0, 0, 0, 0]);
    expect((await at(slope("byte")))(20, 20)).toEqual([10, 10, 10, 255]);
    expect((await at(slope("byte"), { nodata: 10 }))(20, 20)).toEqual([0, 0, 0, 0]);
  });

  it("is not a colour of which one part is the nodata value", async () => {
    const spec = slope("byte");
    const [value] = spec.images[0]!.bands;
    const zero = new Uint8Array(512 * 512);
    const image = { ...spec.images[0]!, bands: [value!, zero, zero] };
    const look = await at({ ...spec, images: [image], nodata: "0" });
    expect([look(0, 0)[3], look(20, 20)]).toEqual([0, [10, 0, 0, 255]]);
  });

  it("is NaN, and a value that only 32 bits make equal", async () => {
    const spec = slope("float");
    const band = Float32Array.from(spec.images[0]!.bands[0]!);
    band[5] = NaN;
    band[6] = -3.4028235e38;
    const images = [{ ...spec.images[0]!, bands: [band] }];
    const look = await at(
      { ...spec, images, nodata: "-3.4028234663852886e+38" },
      { rescale: [[0, 255]] },
    );
    expect([look(4, 0)[3], look(5, 0)[3], look(6, 0)[3]]).toEqual([255, 0, 0]);
  });

  it("is what a mask leaves out", async () => {
    const spec = slope("byte");
    const bits = new Uint8Array(512 * 512).fill(1).fill(0, 0, 512 * 8);
    const mask = { width: 512, height: 512, block: 256, bands: [bits], kind: 4, oneBit: true };
    const look = await at({ ...spec, images: [spec.images[0]!, mask] });
    expect([look(3, 7)[3], look(3, 8)[3]]).toEqual([0, 255]);
  });

  it("is what an alpha band says, by degrees", async () => {
    const spec = slope("byte");
    const [value] = spec.images[0]!.bands;
    const alpha = new Uint8Array(512 * 512).fill(255).fill(128, 0, 512 * 8);
    const image = { ...spec.images[0]!, bands: [value!, value!, value!, alpha], hasAlpha: true };
    for (const isSeparate of [false, true]) {
      const look = await at({ ...spec, images: [{ ...image, isSeparate }] });
      expect([look(40, 7), look(40, 8)]).toEqual([
        [11, 11, 11, 128],
        [12, 12, 12, 255],
      ]);
    }
  });

  it("is a block that was never written", async () => {
    const spec = slope("byte");
    const look = await at({ ...spec, images: [{ ...spec.images[0]!, sparse: [0] }] });
    expect(look(100, 100)).toEqual([0, 0, 0, 0]);
  });
});

describe("a layer with a copy for looking at", () => {
  it("shows the copy, and the data where the request names bands, ranges or colours", async () => {
    const spec = slope("byte");
    const flat = (value: number): TiffSpec => ({
      ...spec,
      images: [{ ...spec.images[0]!, bands: [new Uint8Array(512 * 512).fill(value)] }],
    });
    const { server } = serve({ data: flat(10), copy: flat(200) });
    const both = { ...layer("copy"), data_path: "data" };
    const shown = async (options: Partial<RenderOptions>) => {
      const bytes = await server.tile(both, { z: 1, x: 0, y: 0 }, request(options));
      return (await look(bytes)).at(0, 0)[0];
    };
    expect(await shown({})).toBe(200);
    expect(await shown({ bands: [1] })).toBe(10);
    expect(await shown({ rescale: [[0, 20]] })).toBe(128);
    expect(await shown({ colormap_name: "gray_r" })).toBe(245);
  });
});

describe("colours", () => {
  it("of a palette are the file's own", async () => {
    const spec = slope("byte");
    const reds = Array.from({ length: 256 }, (_, index) => (index === 10 ? 65_535 : 0));
    const none = new Array<number>(256).fill(0);
    const image = { ...spec.images[0]!, photometric: 3, colours: [...reds, ...none, ...none] };
    const { server } = serve({ a: { ...spec, images: [image] } });
    const picture = await look(await server.tile(layer("a"), { z: 1, x: 0, y: 0 }, request()));
    expect([picture.at(20, 20), picture.at(0, 0)]).toEqual([
      [255, 0, 0, 255],
      [0, 0, 0, 255],
    ]);
  });

  it("follow the bands that are asked for, and refuse those that are not there", async () => {
    const spec = slope("byte");
    const flat = (value: number) => new Uint8Array(512 * 512).fill(value);
    const image = { ...spec.images[0]!, bands: [flat(1), flat(2), flat(3)] };
    const { server } = serve({ a: { ...spec, images: [image] } });
    const tile = { z: 1, x: 0, y: 0 };
    expect((await look(await server.tile(layer("a"), tile, request()))).at(0, 0)).toEqual([
      1, 2, 3, 255,
    ]);
    const turned = await server.tile(layer("a"), tile, request({ bands: [3, 2, 1] }));
    expect((await look(turned)).at(0, 0)).toEqual([3, 2, 1, 255]);
    await expect(server.tile(layer("a"), tile, request({ bands: [4] }))).rejects.toThrow(
      /no band 4/,
    );
  });
});

describe("a JPEG block that is a tile", () => {
  const noise = Buffer.from(
    Array.from({ length: 256 * 256 * 3 }, (_, index) => (index * 7919) % 251),
  );
  const encode = () =>
    sharp(noise, { raw: { width: 256, height: 256, channels: 3 } })
      .jpeg({ quality: 90 })
      .toBuffer();

  async function spec(mask?: Uint8Array): Promise<{ spec: TiffSpec; block: Buffer }> {
    const block = await encode();
    const base = slope("byte");
    const band = new Uint8Array(512 * 512);
    const jpeg = {
      width: 512,
      height: 512,
      block: 256,
      bands: [band, band, band],
      photometric: 6,
      encoded: { compression: 7, blocks: [block, block, block, block] },
      // A start and an end without a table between: each block here brings its own.
      tables: Uint8Array.of(0xff, 0xd8, 0xff, 0xd9),
    };
    const masks =
      mask === undefined
        ? []
        : [{ width: 512, height: 512, block: 256, bands: [mask], kind: 4, oneBit: true }];
    return { block, spec: { ...base, images: [jpeg, ...masks] } };
  }

  it("is sent as it lies in the file", async () => {
    const { spec: file, block } = await spec();
    const { server } = serve({ a: file });
    const bytes = await server.tile(layer("a"), { z: 1, x: 1, y: 1 }, request({}, "auto"));
    expect(
      Buffer.compare(await sharp(bytes).raw().toBuffer(), await sharp(block).raw().toBuffer()),
    ).toBe(0);
    // Not encoded again: the compressed data themselves are in it.
    expect(Buffer.from(bytes).includes(block.subarray(-2000))).toBe(true);
  });

  it("is made into a picture when other colours, another format or a hole in it ask for that", async () => {
    const { spec: file, block } = await spec(new Uint8Array(512 * 512).fill(1).fill(0, 0, 1));
    const { server } = serve({ a: file });
    const tail = block.subarray(-2000);
    const has = async (
      tile: { z: number; x: number; y: number },
      options: object,
      format: "auto" | "png",
    ) => Buffer.from(await server.tile(layer("a"), tile, request(options, format))).includes(tail);
    const untouched = { z: 1, x: 1, y: 1 };
    expect(await has(untouched, {}, "auto")).toBe(true);
    expect(await has(untouched, { bands: [1, 2, 3], rescale: [[0, 255]] }, "auto")).toBe(true);
    expect(await has(untouched, { bands: [3, 2, 1] }, "auto")).toBe(false);
    expect(await has(untouched, { rescale: [[0, 100]] }, "auto")).toBe(false);
    expect(await has(untouched, {}, "png")).toBe(false);
    expect(await has({ z: 1, x: 0, y: 0 }, {}, "auto")).toBe(false);
    expect(await has({ z: 2, x: 3, y: 3 }, {}, "auto")).toBe(false);
  });
});

describe("other coordinate reference systems", () => {
  it("are put where they belong: degrees", async () => {
    const band = Uint8Array.from({ length: 360 * 170 }, (_, index) =>
      Math.floor(index / 360) < 85 ? 50 : 200,
    );
    const image = { width: 360, height: 170, block: 128, bands: [band] };
    const { server } = serve({
      a: { images: [image], epsg: 4326, origin: [-180, 85], pixel: [1, 1] },
    });
    const picture = await look(await server.tile(layer("a"), { z: 0, x: 0, y: 0 }, request()));
    expect([picture.at(128, 126)[0], picture.at(128, 130)[0]]).toEqual([50, 200]);
  });

  it("are put where they belong: UTM, within a pixel", async () => {
    // A white square of 2 km around 9° E, 47° N in a black one of 20 km, 100 m a pixel.
    const size = 200;
    const band = Uint8Array.from({ length: size * size }, (_, index) => {
      const [x, y] = [index % size, Math.floor(index / size)];
      return Math.abs(x - 100) <= 10 && Math.abs(y - 100) <= 10 ? 255 : 0;
    });
    const image = { width: size, height: size, block: 64, bands: [band] };
    const [east, north] = [500_000, 5_205_354.4];
    const { server } = serve({
      a: {
        images: [image],
        epsg: 32632,
        origin: [east - 10_000, north + 10_000],
        pixel: [100, 100],
      },
    });
    const info = await server.info(layer("a"));
    expect(info).toMatchObject({ width: 200, count: 1, dtype: "uint8", minzoom: 11, maxzoom: 11 });
    const [west, south, eastEnd, northEnd] = info.bounds;
    expect((west + eastEnd) / 2).toBeCloseTo(9, 2);
    expect((south + northEnd) / 2).toBeCloseTo(47, 2);
    const values = async (lon: number, lat: number) =>
      (
        await server.point(
          layer("a"),
          { lon, lat },
          { bands: undefined, nodata: undefined, signal: request().signal },
        )
      ).values;
    expect(await values(9, 47)).toEqual([255]);
    expect(await values(9.02, 47)).toEqual([0]);
    await expect(values(12, 47)).rejects.toMatchObject({ code: "OUTSIDE_LAYER" });
    // The same square seen on tiles: its middle is white, two kilometres beside it is black.
    const z = 11;
    const [x, y] = [
      ((9 + 180) / 360) * 2 ** z,
      (0.5 - Math.asinh(Math.tan((47 * Math.PI) / 180)) / (2 * Math.PI)) * 2 ** z,
    ];
    const tile = { z, x: Math.floor(x), y: Math.floor(y) };
    const picture = await look(await server.tile(layer("a"), tile, request()));
    const [px, py] = [Math.floor((x % 1) * 256), Math.floor((y % 1) * 256)];
    expect(picture.at(px, py)[0]).toBe(255);
    expect(picture.at(Math.min(255, px + 40), py)[0]).toBe(0);
  });

  it("across the antimeridian are on both sides of it", async () => {
    const band = new Uint8Array(100 * 100).fill(99);
    const image = { width: 100, height: 100, block: 64, bands: [band] };
    const { server } = serve({
      a: { images: [image], epsg: 4326, origin: [170, 10], pixel: [0.2, 0.2] },
    });
    expect((await server.info(layer("a"))).bounds).toEqual([170, -10, -170, 10]);
    const picture = await look(await server.tile(layer("a"), { z: 0, x: 0, y: 0 }, request()));
    expect([picture.at(2, 128)[0], picture.at(253, 128)[0], picture.at(128, 128)[3]]).toEqual([
      99, 99, 0,
    ]);
    const { values } = await server.point(
      layer("a"),
      { lon: -175, lat: 0 },
      { bands: undefined, nodata: undefined, signal: request().signal },
    );
    expect(values).toEqual([99]);
  });

  it("that count from 0 to 360 degrees are put where they belong", async () => {
    const band = Uint8Array.from({ length: 100 * 100 }, (_, index) => index % 100);
    const image = { width: 100, height: 100, block: 64, bands: [band] };
    const { server } = serve({
      a: { images: [image], epsg: 4326, origin: [200, 10], pixel: [0.2, 0.2] },
    });
    expect((await server.info(layer("a"))).bounds).toEqual([-160, -10, -140, 10]);
    const picture = await look(await server.tile(layer("a"), { z: 0, x: 0, y: 0 }, request()));
    expect(picture.at(21, 128)[0]).toBeGreaterThan(40);
    expect(picture.at(21, 128)[0]).toBeLessThan(60);
  });

  it.each([
    [2056, 2_718_744, 1_206_619, 9, 47],
    [3035, 4_244_881, 2_654_566, 9, 47],
    [27700, 400_096, 233_506, -2, 52],
    [28992, 155_029, 463_109, 5.38763888888889, 52.1561605555556],
    [2154, 1_155_480, 6_672_844, 9, 47],
    [3413, 0, -1_085_920, -45, 80],
    [5070, 0, 1_886_977, -96, 40],
    [25832, 500_000, 5_205_164, 9, 47],
    [6933, 868_376, 5_358_567, 9, 47],
  ])("are known by number: EPSG:%i, as PROJ computes it", async (epsg, x, y, lon, lat) => {
    const band = Uint8Array.from({ length: 64 * 64 }, (_, index) =>
      index === 32 * 64 + 32 ? 9 : 1,
    );
    const image = { width: 64, height: 64, block: 64, bands: [band] };
    const origin = [x - 32.5 * 100, y + 32.5 * 100] as const;
    const { server } = serve({ a: { images: [image], epsg, origin, pixel: [100, 100] } });
    const nothing = { bands: undefined, nodata: undefined, signal: request().signal };
    const { values } = await server.point(layer("a"), { lon, lat }, nothing);
    expect(values).toEqual([9]);
  });

  it("that are unknown are refused with what to do", async () => {
    const spec = { ...slope("byte"), epsg: 31287 };
    const { server } = serve({ a: spec });
    await expect(server.info(layer("a"))).rejects.toMatchObject({ code: "LAYER_UNREADABLE" });
    await expect(server.info(layer("a"))).rejects.toThrow(/EPSG:31287 is not known here/);
  });
});

describe("what is kept", () => {
  it("is read once for the same tile, whether it is asked for at once or later", async () => {
    const { server, reads } = serve({ a: slope("byte") });
    const ask = () => server.tile(layer("a"), { z: 1, x: 0, y: 0 }, request());
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first).toBe(second);
    const before = reads.length;
    await ask();
    expect(reads.length).toBe(before);
  });

  it("survives a restart on disk, and belongs to a version", async () => {
    const tile = { z: 1, x: 0, y: 0 };
    const first = serve({ a: slope("byte") }, "kept");
    const bytes = await first.server.tile(layer("a"), tile, request());
    await first.disk.settled();
    const second = serve({ a: slope("byte", { compression: "none" }) }, "kept");
    expect(Buffer.compare(await second.server.tile(layer("a"), tile, request()), bytes)).toBe(0);
    const other = serve({ a: { ...slope("byte"), nodata: "10" } }, "kept");
    const changed = await look(await other.server.tile(layer("a", "2"), tile, request()));
    expect(changed.at(20, 20)[3]).toBe(0);
  });
});

describe("damage", () => {
  it("in a header or a block is reported as such", async () => {
    const good = writeTiff(slope("byte"));
    const { server } = serve({
      cut: good.subarray(0, 300),
      text: Buffer.from("not a TIFF at all"),
      none: new Uint8Array(0),
    });
    for (const name of ["cut", "text", "none", "missing"]) {
      await expect(server.info(layer(name))).rejects.toMatchObject({ code: "LAYER_UNREADABLE" });
    }
  });

  it("of 65535 pixels a side in a small file allocates nothing", async () => {
    const spec = slope("byte");
    const bomb = {
      ...spec.images[0]!,
      width: 65_535,
      height: 65_535,
      encoded: { compression: 8, blocks: [new Uint8Array(8)] },
      bands: [new Uint8Array(1)],
    };
    const { server } = serve({ a: { ...spec, images: [bomb] } });
    await expect(
      server.statistics(layer("a"), {
        bands: undefined,
        nodata: undefined,
        mostSide: 64,
        signal: request().signal,
      }),
    ).rejects.toMatchObject({ code: "LAYER_UNREADABLE" });
  });
});

import { EventEmitter, once } from "node:events";
import { expect, it } from "vitest";
import { createRasterServer } from "../../../test/support/raster-server.ts";
import { writeTiff } from "../../../test/support/tiff.ts";
import { waitFor } from "../../../test/support/wait.ts";
import type { RasterLayer } from "../../core/serving/layer.ts";
import { halfWorld, resolutionAt } from "../../core/serving/web-mercator.ts";
import { createDiskCache } from "./disk-cache.ts";

const layer = (path: string): RasterLayer => {
  const facts = { title: path, bounds: [0, 0, 1, 1] as const, style: null };
  return { kind: "raster", path, data_path: path, version_tag: "1", ...facts };
};

it("does not make a picture whose client left while it waited for its turn", async () => {
  const size = { width: 256, height: 256, block: 256 };
  const image = { ...size, bands: [new Uint8Array(65_536)], compression: "none" as const };
  const pixel = resolutionAt(0, 256);
  const file = writeTiff({
    images: [image],
    epsg: 3857,
    origin: [-halfWorld, halfWorld],
    pixel: [pixel, pixel],
  });
  const reads: string[] = [];
  const steps = new EventEmitter();
  let isGated = false;
  const server = createRasterServer({
    disk: createDiskCache("", 0),
    atOnce: 1,
    storage: {
      head: async () => ({ bytes: file.byteLength }),
      readRange: async (name, offset, length) => {
        reads.push(name);
        if (isGated) await once(steps, "open");
        return file.subarray(offset, offset + length);
      },
    },
  });
  await Promise.all([server.info(layer("a")), server.info(layer("b"))]);
  isGated = true;
  reads.length = 0;
  const leaving = new AbortController();
  const ask = (name: string, { signal } = new AbortController()) =>
    server.tile(
      layer(name),
      { z: 0, x: 0, y: 0 },
      {
        options: { resampling: "nearest" },
        format: "png",
        tileSize: 256,
        signal,
      },
    );
  const stays = ask("a");
  const leaves = ask("b", leaving);
  await waitFor(() => reads.length > 0, { what: "the first picture to be read" });
  leaving.abort();
  steps.emit("open");
  await expect(leaves).rejects.toThrow();
  expect((await stays).length).toBeGreaterThan(0);
  expect(reads).not.toContain("b");
});

it("answers nothing for a band whose own mask leaves the place out", async () => {
  const side = 256;
  const halves = [true, false].map((isLeft) =>
    Uint8Array.from({ length: side * side }, (_, at) => (at % side < 128 === isLeft ? 255 : 0)),
  );
  const image = { width: side, height: side, block: side };
  const bands = [1, 2].map((value) => new Uint8Array(side * side).fill(value));
  const file = writeTiff({
    images: [
      { ...image, bands },
      { ...image, bands: halves, kind: 4 },
    ],
    epsg: 4326,
    origin: [0, 1],
    pixel: [1 / side, 1 / side],
  });
  const server = createRasterServer({
    disk: createDiskCache("", 0),
    storage: {
      head: async () => ({ bytes: file.byteLength }),
      readRange: async (_, offset, length) => file.subarray(offset, offset + length),
    },
  });
  const { signal } = new AbortController();
  const ask = { bands: undefined, nodata: undefined, signal };
  const west = await server.point(layer("a"), { lon: 0.1, lat: 0.5 }, ask);
  const east = await server.point(layer("a"), { lon: 0.9, lat: 0.5 }, ask);
  expect([west.values, east.values]).toEqual([
    [1, null],
    [null, 2],
  ]);
  const { b1, b2 } = await server.statistics(layer("a"), { ...ask, mostSide: side });
  expect([b1!.valid_percent, b2!.valid_percent]).toEqual([50, 50]);
});

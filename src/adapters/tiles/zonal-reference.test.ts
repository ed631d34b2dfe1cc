/** Compares with exactextract. `scripts/zonal-reference.py` writes the stored values. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Affine } from "../../core/serving/affine.ts";
import { invert } from "../../core/serving/affine.ts";
import { findExtent } from "../../core/serving/coverage.ts";
import { createCover } from "../../core/zonal/cover-pixels.ts";
import { zonalStatistics } from "../../core/zonal/statistics.ts";
import { createTally } from "../../core/zonal/tally.ts";
import type { Polygon } from "../../core/zonal/to-pixels.ts";
import { toPixelRings } from "../../core/zonal/to-pixels.ts";
import { cellPolygon } from "../h3/cell-polygon.ts";
import { makeProjection } from "./projection.ts";

interface Case {
  readonly name: string;
  readonly crs: number;
  readonly transform: Affine;
  readonly size: readonly [number, number];
  readonly values: string;
  readonly cell?: string;
  readonly polygon?: Polygon;
  readonly statistics: Readonly<Record<string, number | Record<string, number>>>;
}

const file = new URL("../../../test/fixtures/zonal/reference.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: readonly Case[] };
const cover = createCover();

function noise(column: number, row: number): number {
  return ((column * 7919 + row * 104_729 + column * row * 31) % 65_521) % 1000;
}

function valueAt(kind: string, column: number, row: number): number {
  if (kind === "constant") return 7.5;
  if (kind === "ramp") return column * 0.5 - row * 0.25;
  if (kind === "categorical") return noise(column, row) % 5;
  if (kind === "masked" && noise(column + 3, row + 5) % 4 === 0) return NaN;
  return noise(column, row);
}

function gridOf({ crs, transform, size: [width, height] }: Case) {
  const projection = makeProjection(crs, undefined);
  const toPixels = invert(transform);
  if (toPixels === undefined) throw new Error("no area");
  const place = { width, height, toCoordinates: transform, toPixels, ...projection };
  const extent = findExtent(place);
  if (extent === undefined) throw new Error("no place");
  return { ...place, extent };
}

describe("zonal statistics equal those of exactextract", () => {
  test.each(cases.map((each) => [each.name, each] as const))("%s", (_name, given) => {
    const grid = gridOf(given);
    const { width, height } = grid;
    const polygon = given.polygon ?? cellPolygon(given.cell ?? "");
    const rings = toPixelRings(polygon, grid) ?? [];
    const values = Float64Array.from({ length: width * height }, (_, index) =>
      valueAt(given.values, index % width, Math.floor(index / width)),
    );
    const mask = new Uint8Array(values.length).fill(255);
    const tally = createTally(zonalStatistics);
    cover(rings, { left: 0, top: 0, width, height }, (row, column, shares, count) => {
      tally.add({ values, mask, offset: row * width + column, shares, count });
    });
    const found = tally.result();
    const most = given.crs === 4326 ? 2e-6 : 1e-5;
    for (const [name, wanted] of Object.entries(given.statistics)) {
      if (typeof wanted === "number") {
        expectNear(name, found[name as "mean"] ?? NaN, wanted, most);
        continue;
      }
      expect(found.histogram.map(([value]) => String(value))).toEqual(Object.keys(wanted));
      for (const [value, share] of found.histogram) {
        expectNear(String(value), share, wanted[String(value)] ?? NaN, most);
      }
    }
  });
});

/** exactextract stores shares in 32 bits; a projected edge is a chain of chords, here and there. */
function expectNear(name: string, ours: number, wanted: number, most: number): void {
  const off = Math.abs(ours - wanted) / Math.max(1, Math.abs(wanted));
  expect(off, `${name}: ${ours} and not ${wanted}`).toBeLessThan(most);
}

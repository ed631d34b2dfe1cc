import { readFileSync } from "node:fs";
import { cellToChildren, cellToParent, getResolution, gridDisk, latLngToCell } from "h3-js";
import { describe, expect, it } from "vitest";
import { createMeasures } from "./measure-features.ts";

const file = new URL("../../../test/fixtures/zonal/vector-reference.json", import.meta.url);
type Positions = [number, number][];
/** Of Shapely and pyproj: scripts/vector-reference.py. */
const reference = JSON.parse(readFileSync(file, "utf8")) as Record<
  string,
  {
    geometry:
      | { type: "LineString"; coordinates: Positions }
      | { type: "Polygon"; coordinates: Positions[] }
      | { type: "MultiPolygon"; coordinates: Positions[][] };
    cells: Record<string, number>;
  }
>;

function partsOf({ geometry }: (typeof reference)[string]) {
  const flat = (line: Positions) => Float64Array.from(line.flat());
  const none = { points: new Float64Array(0), lines: [], polygons: [] };
  if (geometry.type === "LineString") return { ...none, lines: [flat(geometry.coordinates)] };
  const polygons = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
  return { ...none, polygons: polygons.map((rings) => rings.map(flat)) };
}

describe("lengths and areas in H3 cells", () => {
  for (const name of Object.keys(reference)) {
    it(`equal those of others: ${name}`, () => {
      const { cells } = reference[name]!;
      const near = new Set(Object.keys(cells).flatMap((cell) => gridDisk(cell, 1)));
      const measures = createMeasures(name === "line" ? "line" : "polygon", [...near]);
      measures.add({ parts: partsOf(reference[name]!), category: "a", weight: 100 });
      const found = new Map(measures.result());
      for (const [cell, wanted] of Object.entries(cells)) {
        const own = found.get(cell);
        const off = Math.abs((own?.measure ?? 0) - wanted) / Math.max(1, wanted);
        expect(off, `${cell}: ${own?.measure ?? 0} and not ${wanted}`).toBeLessThan(1e-5);
        expect(own).toMatchObject({ count: 1, categories: new Map([["a", own?.measure]]) });
      }
      for (const [cell, { measure }] of found) {
        if (!(cell in cells)) expect(measure, cell).toBeLessThan(1);
      }
      // What is shared out is all of it, at each resolution that the cells cover whole.
      const finest = Math.max(...[...found.keys()].map((cell) => getResolution(cell)));
      const sum = [...found].reduce(
        (total, [cell, own]) => total + (getResolution(cell) === finest ? own.sum : 0),
        0,
      );
      // Long edges are cut into pieces, each of them a geodesic of its own.
      expect(Math.abs(sum - 100)).toBeLessThan(0.2);
    });
  }

  it("count points in the cell that H3 says, once at each resolution", () => {
    const chunk = latLngToCell(47, 11, 3);
    const cells = [3, 4, 5].flatMap((resolution) => cellToChildren(chunk, resolution));
    const measures = createMeasures("point", cells);
    const points = Array.from({ length: 500 }, (_, index) => [
      10.5 + (index % 25) / 25,
      46.5 + Math.floor(index / 25) / 20,
    ]);
    for (const [index, point] of points.entries()) {
      const parts = { points: Float64Array.from(point), lines: [], polygons: [] };
      measures.add({ parts, category: index % 2 === 0 ? "even" : "odd", weight: 2 });
    }
    const found = new Map(measures.result());
    const own = points.filter(([lon = 0, lat = 0]) => latLngToCell(lat, lon, 3) === chunk);
    expect(own.length).toBeGreaterThan(50);
    expect(found.get(chunk)).toMatchObject({ count: own.length, sum: 2 * own.length });
    const fine = [...found].filter(([cell]) => getResolution(cell) === 5);
    expect(fine.every(([cell]) => cellToParent(cell, 3) === chunk)).toBe(true);
    expect(fine.reduce((sum, [, { count }]) => sum + count, 0)).toBe(
      points.filter(([lon = 0, lat = 0]) => cellToParent(latLngToCell(lat, lon, 5), 3) === chunk)
        .length,
    );
  });

  it("keep no category for each feature of a large file", () => {
    const parts = { points: Float64Array.from([11, 47]), lines: [], polygons: [] };
    const measures = createMeasures("point", [latLngToCell(47, 11, 3)], 1000);
    const add = (category: string) => {
      measures.add({ parts, category, weight: 1 });
    };
    for (let count = 0; count < 1000; count++) add("same");
    expect(() => {
      for (let count = 0; count < 1000; count++) add(`feature ${count}`);
    }).toThrow(expect.objectContaining({ code: "TOO_MANY_CATEGORIES", category: "permanent" }));
  });
});

/**
 * The cases of the project antimeridian, with its own answers for straight edges on a flat map
 * (`great_circle=False`). Where ours differs, the reason stands in docs/formats.md.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { prepareGeometry } from "./prepare-geometry.ts";
import type { Line, Parts } from "./parts.ts";
import { rewindAll } from "./parts.ts";

interface Geometry {
  readonly type: "Polygon" | "MultiPolygon" | "LineString" | "MultiLineString";
  readonly coordinates: never;
}
interface Case {
  readonly name: string;
  readonly input: Geometry;
  readonly expected: Geometry | null;
}
const file = new URL("../../../test/fixtures/vector/antimeridian/cases.json", import.meta.url);
const cases = JSON.parse(readFileSync(file, "utf8")) as Case[];

type Positions = [number, number][];
function partsOf({ type, coordinates }: Geometry): Parts {
  const flat = (list: Positions) => Float64Array.from(list.flat());
  const none: Parts = { points: new Float64Array(0), lines: [], polygons: [] };
  const polygons = (list: Positions[][]) => list.map((rings) => rings.map(flat));
  if (type === "Polygon") return { ...none, polygons: polygons([coordinates]) };
  if (type === "MultiPolygon") return { ...none, polygons: polygons(coordinates) };
  if (type === "LineString") return { ...none, lines: [flat(coordinates)] };
  return { ...none, lines: (coordinates as Positions[]).map(flat) };
}

type Ring = readonly number[];

/** One order for equal geometries: each ring from its smallest position on, rings by their start. */
function arrange(parts: Parts): Ring[][] {
  const inOrder = (a: Ring, b: Ring) => {
    const index = a.findIndex((value, at) => Math.abs(value - (b[at] ?? Infinity)) > 1e-4);
    return index < 0 ? a.length - b.length : a[index]! - (b[index] ?? Infinity);
  };
  const positions = (line: Line) => {
    const list: [number, number][] = [];
    for (let index = 0; index < line.length; index += 2) {
      const [x, y] = [line[index]!, line[index + 1]!];
      const last = list.at(-1);
      if (last === undefined || Math.hypot(last[0] - x, last[1] - y) > 1e-6) list.push([x, y]);
    }
    return list;
  };
  const ring = (line: Line) => {
    const open = positions(line).slice(0, -1);
    const [first] = [...open].sort(inOrder);
    const start = open.indexOf(first!);
    return [...open.slice(start), ...open.slice(0, start)].flat();
  };
  const { polygons, lines } = rewindAll(parts).parts;
  return [
    ...polygons.map(([outer, ...holes]) => [ring(outer!), ...holes.map(ring).sort(inOrder)]),
    ...lines.map((line) => [positions(line).flat()]),
  ].sort((a, b) => inOrder(a[0]!, b[0]!));
}

function isEqual(a: Parts, b: Parts): boolean {
  const [one, two] = [arrange(a), arrange(b)];
  const isSame = (first: Ring, second: Ring) =>
    first.length === second.length &&
    first.every((value, index) => Math.abs(value - second[index]!) < 1e-5);
  return (
    one.length === two.length &&
    one.every(
      (rings, index) =>
        rings.length === two[index]!.length &&
        rings.every((ring, number) => isSame(ring, two[index]![number]!)),
    )
  );
}

/** Why the answer is another one. */
const reasons: ReadonlyMap<string, string> = new Map([
  ["both-poles", "the smaller side of a ring is its inside, however it is wound"],
  ["force-north-pole", "the answer belongs to an option that adds a pole"],
  ["issues-171", "a hole is missing in the answer"],
  ["issues-182", "there is no answer: the polygon is not valid, and is repaired later"],
  ["one-ccw-hole", "the answer is that of one-hole"],
  ["simple-with-ccw-hole", "there is no answer: it does not cross"],
]);

describe("the project antimeridian's case", () => {
  it.each(cases)("$name", ({ name, input, expected }) => {
    const prepared = prepareGeometry({
      ...partsOf(input),
      hasNonFinite: false,
      hasCurves: false,
      hasHeights: false,
    });
    if (prepared.unusable !== undefined) throw new Error("it can be used");
    const wanted =
      name === "one-ccw-hole" ? cases.find((each) => each.name === "one-hole") : undefined;
    const answer = wanted?.expected ?? expected;
    const isSame = answer !== null && isEqual(prepared.parts, partsOf(answer));
    expect(isSame).toBe(name === "one-ccw-hole" || !reasons.has(name));
  });
});

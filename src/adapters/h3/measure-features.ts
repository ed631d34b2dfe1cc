/**
 * Counts points, and measures lines and polygons, by H3 cell. Lines and polygons are cut along the cells
 * with straight edges in longitude and latitude, and the pieces are measured on the ellipsoid.
 */
import { getResolution, latLngToCell } from "h3-js";
import type { FlatRing } from "../../core/geometry/cut-line.ts";
import { isInside, piecesInside, turnOf } from "../../core/geometry/cut-line.ts";
import { once } from "../../core/once.ts";
import type { Kind, Line, Parts } from "../../core/vector/parts.ts";
import { KnownError } from "../runtime/known-error.ts";
import type { PlacedCell } from "./cell-index.ts";
import { indexCells } from "./cell-index.ts";
import { areaBesideEdge, geodesicLength } from "./geodesic.ts";

export interface MeasuredFeature {
  readonly parts: Parts;
  /** Undefined: the feature has no category, or none is asked for. */
  readonly category: string | undefined;
  /** What is shared out among the cells; zero where the feature has no value. */
  readonly weight: number;
}

export interface CellMeasures {
  /** Of points; of lines and polygons, those that have a part in the cell. */
  count: number;
  /** Metres of lines, square metres of polygons. */
  measure: number;
  /** Of the weights: of a line or polygon by the share that lies in the cell. */
  sum: number;
  /** Points, metres or square metres by category. */
  readonly categories: Map<string, number>;
}

/** Characters of the categories of all cells of a chunk; more are no categories, but names of features. */
const mostCategories = 64 * 1024 * 1024;

/** The cells of one chunk; features are added in any number. */
export function createMeasures(
  kind: Kind,
  cells: readonly string[],
  categoryLimit = mostCategories,
) {
  let categoryLength = 0;
  const own = new Map<string, CellMeasures | undefined>(cells.map((cell) => [cell, undefined]));
  const resolutions = [...new Set(cells.map((cell) => getResolution(cell)))];
  // Most chunks of a sparse layer have no feature.
  const indexes = once(() =>
    resolutions.map((resolution) =>
      indexCells(cells.filter((cell) => getResolution(cell) === resolution)),
    ),
  );
  const wholeAreas = new Map<PlacedCell, number>();

  function add(cell: string, amount: number, share: number, feature: MeasuredFeature): void {
    let measures = own.get(cell);
    if (measures === undefined) {
      measures = { count: 0, measure: 0, sum: 0, categories: new Map() };
      own.set(cell, measures);
    }
    measures.measure += amount;
    measures.sum += share * feature.weight;
    if (feature.category === undefined) return;
    const { categories } = measures;
    if (!categories.has(feature.category)) {
      categoryLength += feature.category.length + perCategory;
      if (categoryLength > categoryLimit) throw new TooManyCategories();
    }
    categories.set(feature.category, (categories.get(feature.category) ?? 0) + amount);
  }

  function addPoints(feature: MeasuredFeature): void {
    const { points } = feature.parts;
    const share = 2 / points.length;
    for (let at = 0; at + 1 < points.length; at += 2) {
      for (const resolution of resolutions) {
        const cell = latLngToCell(points[at + 1] ?? 0, points[at] ?? 0, resolution);
        if (!own.has(cell)) continue;
        add(cell, 1, share, feature);
        const measures = own.get(cell);
        if (measures !== undefined) measures.count++;
      }
    }
  }

  /** Adds what a line or polygon has in each cell, and counts it once in each. */
  function addShares(feature: MeasuredFeature, found: ReadonlyMap<string, number>): void {
    const total = feature.weight === 0 ? 0 : wholeMeasure(feature.parts, kind);
    for (const [cell, amount] of found) {
      if (amount <= 0) continue;
      add(cell, amount, total === 0 ? 0 : amount / total, feature);
      const measures = own.get(cell);
      if (measures !== undefined) measures.count++;
    }
  }

  function measureLines({ lines }: Parts): Map<string, number> {
    const found = new Map<string, number>();
    for (const index of indexes()) {
      for (const line of lines) {
        for (const edge of edgesOf(line)) {
          for (const { cell, ring } of index.meeting(...boxOf(edge))) {
            const length = sumPieces(edge, [ring], true, geodesicLength);
            if (length > 0) found.set(cell, (found.get(cell) ?? 0) + length);
          }
        }
      }
    }
    return found;
  }

  /**
   * The border of the part in a cell is made of edges of the polygon in the cell and of edges of the cell
   * in the polygon: the areas beside them add up to its area, without the part itself being built.
   */
  function measurePolygon(rings: readonly FlatRing[]): Map<string, number> {
    const found = new Map<string, number>();
    const box = boxAround(rings[0] ?? []);
    for (const index of indexes()) {
      const crossed = new Map<PlacedCell, { area: number; edges: number[][] }>();
      for (const ring of rings) {
        for (const edge of edgesOf(ring)) {
          for (const placed of index.meeting(...boxOf(edge))) {
            const known = crossed.get(placed) ?? { area: 0, edges: [] };
            crossed.set(placed, known);
            known.edges.push([...edge]);
            known.area += sumPieces(edge, [placed.ring], true, areaBesideEdge);
          }
        }
      }
      for (const placed of index.meeting(...box)) {
        const own = crossed.get(placed);
        const area =
          own === undefined ? wholeCell(placed, rings) : own.area + inner(placed, rings, own);
        if (area > 0) found.set(placed.cell, (found.get(placed.cell) ?? 0) + area);
      }
    }
    return found;
  }

  function inner(
    { ring }: PlacedCell,
    rings: readonly FlatRing[],
    { edges }: { readonly edges: readonly number[][] },
  ): number {
    let sum = 0;
    for (const edge of edgesOf(ring)) {
      sum += sumPieces(edge, rings, false, areaBesideEdge, edges);
    }
    return sum;
  }

  /** No edge of the polygon is near: the cell lies in it, or outside. */
  function wholeCell(placed: PlacedCell, rings: readonly FlatRing[]): number {
    const { ring } = placed;
    if (!isInside(ring[0] ?? 0, ring[1] ?? 0, rings)) return 0;
    let area = wholeAreas.get(placed);
    if (area === undefined) {
      area = areaOf(ring);
      wholeAreas.set(placed, area);
    }
    return area;
  }

  return {
    add(feature: MeasuredFeature): void {
      if (kind === "point") addPoints(feature);
      else if (kind === "line") addShares(feature, measureLines(feature.parts));
      else {
        const found = new Map<string, number>();
        for (const polygon of feature.parts.polygons) {
          for (const [cell, area] of measurePolygon(turned(polygon))) {
            found.set(cell, (found.get(cell) ?? 0) + area);
          }
        }
        addShares(feature, found);
      }
    },
    /** By cell, ascending; cells without a feature are left out. */
    result(): (readonly [string, CellMeasures])[] {
      return [...own]
        .flatMap(([cell, measures]) => (measures === undefined ? [] : [[cell, measures] as const]))
        .sort(([one], [other]) => (one < other ? -1 : 1));
    },
  };
}

/** What an entry takes beside its text, about. */
const perCategory = 64;

class TooManyCategories extends KnownError {
  constructor() {
    super(
      "TOO_MANY_CATEGORIES",
      "permanent",
      "The features have too many categories: name a column with fewer different values.",
    );
  }
}

type Edge = readonly [number, number, number, number];

function* edgesOf(line: FlatRing): Generator<Edge> {
  for (let at = 0; at + 3 < line.length; at += 2) {
    yield [line[at] ?? 0, line[at + 1] ?? 0, line[at + 2] ?? 0, line[at + 3] ?? 0];
  }
}

function boxOf([ax, ay, bx, by]: Edge): Edge {
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
}

function boxAround(ring: FlatRing): Edge {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at + 1 < ring.length; at += 2) {
    const [x = 0, y = 0] = [ring[at], ring[at + 1]];
    [west, south] = [Math.min(west, x), Math.min(south, y)];
    [east, north] = [Math.max(east, x), Math.max(north, y)];
  }
  return [west, south, east, north];
}

function sumPieces(
  edge: Edge,
  rings: readonly FlatRing[],
  alongEdges: boolean,
  measure: (lon1: number, lat1: number, lon2: number, lat2: number) => number,
  nearEdges?: readonly FlatRing[],
): number {
  const [ax, ay, bx, by] = edge;
  const pieces = piecesInside(edge, rings, {
    alongEdges,
    ...(nearEdges === undefined ? {} : { nearEdges }),
  });
  let sum = 0;
  for (let at = 0; at + 1 < pieces.length; at += 2) {
    const [from = 0, to = 1] = [pieces[at], pieces[at + 1]];
    const x = (share: number) => (share === 1 ? bx : ax + share * (bx - ax));
    const y = (share: number) => (share === 1 ? by : ay + share * (by - ay));
    sum += measure(x(from), y(from), x(to), y(to));
  }
  return sum;
}

/** The outer ring counterclockwise, the holes clockwise: so is the inside always at the left. */
function turned(rings: readonly Line[]): Line[] {
  return rings.map((ring, index) => (turnOf(ring) > 0 === (index === 0) ? ring : reversed(ring)));
}

function reversed(ring: Line): Line {
  const count = ring.length / 2;
  return ring.map((_, at) => ring[2 * (count - 1 - Math.floor(at / 2)) + (at % 2)] ?? 0);
}

function areaOf(ring: FlatRing): number {
  let area = 0;
  for (const edge of edgesOf(ring)) area += areaBesideEdge(...edge);
  return area;
}

function wholeMeasure({ lines, polygons }: Parts, kind: Kind): number {
  let sum = 0;
  if (kind === "line") {
    for (const line of lines) for (const edge of edgesOf(line)) sum += geodesicLength(...edge);
  } else {
    for (const polygon of polygons) for (const ring of turned(polygon)) sum += areaOf(ring);
  }
  return sum;
}

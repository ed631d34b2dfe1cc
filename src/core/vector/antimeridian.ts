/**
 * Cuts lines and polygons at 180° of longitude, as RFC 7946 requires. A step of nearly the whole
 * way round is a short step over the antimeridian; longitudes beyond ±180 are folded back first. A
 * ring that goes round a pole is extended along the antimeridian to that pole and back.
 */
import { signedArea, reversed, at } from "./parts.ts";
import type { Line, Parts, Polygon } from "./parts.ts";

/**
 * A step of more degrees than this is read as the short way round. Half a turn would be the usual
 * limit, but boxes around continents have edges of 200°, while edges that cross the antimeridian
 * are shorter than 90°.
 */
const longStep = 270;

/** Projecting forth and back leaves 180.00000000001, which does not mean the other side. */
const tolerance = 1e-9;

/** A piece of a ring from one crossing of the antimeridian to the next. */
type Piece = readonly (readonly [number, number])[];

export interface SplitOptions {
  /**
   * The rings of the file are wound as RFC 7946 says. Otherwise the smaller side of a ring is its
   * inside.
   */
  readonly trustWinding?: boolean;
}

/** Returns the same object if nothing had to be cut. */
export function splitAtAntimeridian(parts: Parts, options: SplitOptions = {}): Parts {
  const split = {
    points: normaliseLine(parts.points),
    lines: parts.lines.flatMap(splitLine),
    polygons: parts.polygons.flatMap((polygon) => splitPolygon(polygon, options)),
  };
  const isSame =
    split.points === parts.points &&
    split.lines.every((line, index) => line === parts.lines[index]) &&
    split.polygons.every((polygon, index) => polygon === parts.polygons[index]);
  return isSame ? parts : split;
}

/** Whether an edge crosses the antimeridian, or a longitude lies beyond it. */
function crosses(line: Line): boolean {
  for (let index = 0; index < line.length; index += 2) {
    const x = at(line, index);
    if (isBeyond(x)) return true;
    if (index > 0 && isLong(x - at(line, index - 2))) return true;
  }
  return false;
}

/** An edge of a whole turn is the frame of the world, from one side to the other. */
function isLong(step: number): boolean {
  return Math.abs(step) > longStep && Math.abs(step) !== 360;
}

function isBeyond(x: number): boolean {
  return Math.abs(x) > 180 + tolerance;
}

function normalise(x: number): number {
  if (isBeyond(x)) return ((((x + 180) % 360) + 360) % 360) - 180;
  return Math.min(180, Math.max(-180, x));
}

function normaliseLine(line: Line): Line {
  const isOutside = line.some((x, index) => index % 2 === 0 && Math.abs(x) > 180);
  return isOutside
    ? line.map((value, index) => (index % 2 === 0 ? normalise(value) : value))
    : line;
}

function splitLine(line: Line): Line[] {
  if (!crosses(line)) return [line];
  const pieces = cut(line);
  if (pieces.length === 0) return [normaliseLine(line)];
  return pieces.filter((piece) => piece.length > 1).map(flatten);
}

function splitPolygon(polygon: Polygon, { trustWinding = false }: SplitOptions): Polygon[] {
  const [given] = polygon;
  if (given === undefined || !polygon.some(crosses)) return [polygon];
  const outer = trustWinding || isInsideLeft(given) ? given : reversed(given);
  const pieces = cut(outer);
  const whole: Line[] = [];
  for (const hole of polygon.slice(1)) {
    const turned = trustWinding || !isInsideLeft(hole) ? hole : reversed(hole);
    const cuts = cut(turned);
    if (cuts.length > 0) pieces.push(...cuts);
    else whole.push(normaliseLine(hole));
  }
  if (pieces.length === 0) return [[normaliseLine(given), ...whole]];
  const rings = join(leadOverPoles(pieces));
  return rings.map((ring) => [ring, ...whole.filter((hole) => contains(ring, hole))]);
}

/**
 * Whether the inside lies to the left. The ring is unrolled first, so that its area can be
 * measured. A ring that does not close after that goes round a pole: the nearer one.
 */
function isInsideLeft(ring: Line): boolean {
  const unrolled = Float64Array.from(ring);
  let shift = 0;
  let latitudes = 0;
  for (let index = 2; index < ring.length; index += 2) {
    const step = at(ring, index) - at(ring, index - 2);
    if (isLong(step)) shift -= 360 * Math.sign(step);
    unrolled[index] = at(ring, index) + shift;
    latitudes += at(ring, index + 1);
  }
  if (shift === 0) return signedArea(unrolled) >= 0;
  // Eastward the north pole is on the left.
  return shift > 0 === latitudes >= 0;
}

/** The pieces between the crossings; none if the line does not cross. */
function cut(line: Line): Piece[] {
  const pieces: Piece[] = [];
  let piece: [number, number][] = [];
  const count = line.length / 2;
  for (let index = 0; index < count; index++) {
    const here: [number, number] = [normalise(at(line, 2 * index)), at(line, 2 * index + 1)];
    piece.push(here);
    if (index + 1 === count) break;
    const next: [number, number] = [normalise(at(line, 2 * index + 2)), at(line, 2 * index + 3)];
    const step = next[0] - here[0];
    if (!isLong(step)) continue;
    const side = step > 0 ? -180 : 180;
    const latitude = crossingLatitude(here, next);
    if (here[0] !== side) piece.push([side, latitude]);
    pieces.push(piece);
    piece = next[0] === -side ? [] : [[-side, latitude]];
  }
  if (pieces.length === 0) return [];
  const isClosed =
    line.length > 2 &&
    normalise(at(line, 0)) === piece.at(-1)?.[0] &&
    at(line, 1) === piece.at(-1)?.[1];
  const first = pieces[0];
  if (isClosed && first !== undefined) pieces[0] = [...piece.slice(0, -1), ...first];
  else if (piece.length > 0) pieces.push(piece);
  return pieces;
}

/** The latitude at which the straight line between the two points crosses the antimeridian. */
function crossingLatitude(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
): number {
  const before = x1 > 0 ? 180 - x1 : 180 + x1;
  const after = x2 > 0 ? 180 - x2 : 180 + x2;
  return before + after === 0 ? y1 : y1 + ((y2 - y1) * before) / (before + after);
}

/** A piece contains the pole if no other piece starts between its end and the pole. */
function leadOverPoles(pieces: readonly Piece[]): Piece[] {
  const led = [...pieces];
  const ends = (side: number) =>
    led.flatMap((piece, index) => {
      const last = piece.at(-1);
      return last?.[0] === side ? [{ index, latitude: last[1] }] : [];
    });
  const starts = (side: number) =>
    led.flatMap(([first]) => (first?.[0] === side ? [first[1]] : []));
  const south = ends(-180).sort((a, b) => a.latitude - b.latitude)[0];
  if (south !== undefined && south.latitude < Math.min(...starts(-180), Infinity)) {
    led[south.index] = [...(led[south.index] ?? []), [-180, -90], [180, -90]];
  }
  const north = ends(180).sort((a, b) => b.latitude - a.latitude)[0];
  if (north !== undefined && north.latitude > Math.max(...starts(180), -Infinity)) {
    led[north.index] = [...(led[north.index] ?? []), [180, 90], [-180, 90]];
  }
  return led;
}

/**
 * Joins each piece to the next one along its side of the antimeridian, with the inside to the left.
 */
function join(pieces: readonly Piece[]): Line[] {
  const open = [...pieces];
  const rings: Line[] = [];
  for (let piece = open.pop(); piece !== undefined; piece = open.pop()) {
    const next = findNext(piece, open);
    if (next === undefined) {
      const [first] = piece;
      if (first !== undefined) rings.push(flatten([...piece, first]));
      continue;
    }
    const [found] = open.splice(next, 1);
    open.push([...piece, ...(found ?? [])]);
  }
  return rings.reverse();
}

/** Undefined: no piece starts nearer than the piece's own start. */
function findNext(piece: Piece, open: readonly Piece[]): number | undefined {
  const last = piece.at(-1);
  const [first] = piece;
  if (last === undefined || first === undefined) return undefined;
  const isEast = last[0] === 180;
  const candidates: { index: number | undefined; latitude: number }[] = [];
  if (closesItself(piece)) candidates.push({ index: undefined, latitude: first[1] });
  for (const [index, other] of open.entries()) {
    const [start] = other;
    const end = other.at(-1);
    if (start === undefined || end === undefined || start[0] !== last[0]) continue;
    const isPast = isEast ? start[1] > last[1] : start[1] < last[1];
    const fits = !closesItself(other) || (isEast ? end[1] < first[1] : end[1] > first[1]);
    if (isPast && fits) candidates.push({ index, latitude: start[1] });
  }
  candidates.sort((a, b) => (isEast ? a.latitude - b.latitude : b.latitude - a.latitude));
  return candidates[0]?.index;
}

function closesItself(piece: Piece): boolean {
  const [first] = piece;
  const last = piece.at(-1);
  if (first === undefined || first[0] !== last?.[0]) return false;
  return last[0] === 180 ? first[1] > last[1] : first[1] < last[1];
}

function flatten(piece: Piece): Line {
  return Float64Array.from(piece.flat());
}

/** Tests the hole's first point, because a valid hole lies in one piece as a whole. */
function contains(ring: Line, hole: Line): boolean {
  const [x = 0, y = 0] = hole;
  let isInside = false;
  for (let index = 0; index + 3 < ring.length; index += 2) {
    const [x1, y1] = [at(ring, index), at(ring, index + 1)];
    const [x2, y2] = [at(ring, index + 2), at(ring, index + 3)];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isInside = !isInside;
  }
  return isInside;
}

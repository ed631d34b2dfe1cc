/**
 * Cuts lines and polygons at 180° of longitude, as RFC 7946 requires. Lines are unrolled first: a
 * step of more than half a turn is the short step over the antimeridian, and longitudes go on beyond
 * 180°. An unrolled ring that does not end where it began goes round a pole: it is extended along the
 * antimeridian to that pole and back.
 */
import { at, reversed, signedArea } from "./parts.ts";
import type { Line, Parts, Polygon } from "./parts.ts";

/** A rectangle up to this width is a box around a continent, and not one over the antimeridian. */
const widestBox = 270;

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

/** Whether an edge crosses the antimeridian or runs along both of its sides, or lies beyond it. */
function crosses(line: Line): boolean {
  for (let index = 0; index < line.length; index += 2) {
    const x = at(line, index);
    if (Math.abs(x) > 180 + tolerance) return true;
    if (index > 0 && turnsOf(line, index) !== 0) return !isWideBox(line) && !isFrame(line);
  }
  return false;
}

/** All positions lie on the antimeridian: a band of latitude, or the whole world. */
function isFrame(line: Line): boolean {
  for (let index = 0; index < line.length; index += 2) {
    if (Math.abs(Math.abs(at(line, index)) - 180) > tolerance) return false;
  }
  return true;
}

function isWideBox(line: Line): boolean {
  if (line.length !== 10) return false;
  let [width, height] = [0, 0];
  for (let index = 2; index < line.length; index += 2) {
    const [dx, dy] = [
      at(line, index) - at(line, index - 2),
      at(line, index + 1) - at(line, index - 1),
    ];
    if (dx !== 0 && dy !== 0) return false;
    width = Math.max(width, Math.abs(dx));
    height = Math.max(height, Math.abs(dy));
  }
  return height > 0 && width <= widestBox;
}

/** By how many turns the step to this position is too long; 0 for the frame of the world. */
function turnsOf(line: Line, index: number): number {
  const step = at(line, index) - at(line, index - 2);
  if (Math.abs(step) <= 180 + tolerance) return 0;
  if (Math.abs(step) === 360 && at(line, index + 1) === at(line, index - 1)) return 0;
  return Math.round(step / 360);
}

/** The line with longitudes that go on beyond 180° instead of jumping to the other side. */
function unroll(line: Line): Line {
  const unrolled = Float64Array.from(line);
  let shift = 0;
  for (let index = 0; index < line.length; index += 2) {
    if (index > 0) shift -= 360 * turnsOf(line, index);
    const x = at(line, index) + shift;
    const side = 180 + 360 * Math.round((x - 180) / 360);
    unrolled[index] = Math.abs(x - side) <= tolerance ? side : x;
  }
  return unrolled;
}

function normalise(x: number): number {
  if (Math.abs(x) > 180 + tolerance) return ((((x + 180) % 360) + 360) % 360) - 180;
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
  return cut(unroll(line))
    .filter((piece) => piece.length > 1)
    .map(flatten);
}

function splitPolygon(polygon: Polygon, { trustWinding = false }: SplitOptions): Polygon[] {
  const [given] = polygon;
  if (given === undefined || !polygon.some(crosses)) return [polygon];
  const pieces: Piece[] = [];
  const whole: Line[] = [];
  for (const [index, ring] of polygon.entries()) {
    const unrolled = startInside(unroll(ring));
    const isTurned = trustWinding || isInsideLeft(unrolled) === (index === 0);
    const cuts = cutRing(isTurned ? unrolled : reversed(unrolled));
    if (cuts.length > 1 || goesRound(unrolled)) pieces.push(...cuts);
    else whole.push(...cuts.map((piece) => flatten(piece)));
  }
  const [outer, ...holes] = whole;
  if (pieces.length === 0) return outer === undefined ? [] : [[outer, ...holes]];
  // The outer ring is not among the whole ones if it was cut.
  const isOuterCut = cutRing(startInside(unroll(given))).length > 1 || goesRound(unroll(given));
  const rings = [
    ...join(leadOverPoles(pieces)),
    ...(isOuterCut || outer === undefined ? [] : [outer]),
  ];
  const inner = isOuterCut ? whole : holes;
  return rings.map((ring) => [ring, ...inner.filter((hole) => contains(ring, hole))]);
}

/** The same ring, beginning at a position that is not on the antimeridian. */
function startInside(ring: Line): Line {
  const count = ring.length / 2 - 1;
  const isOn = (index: number) => (at(ring, 2 * index) - 180) % 360 === 0;
  if (!isOn(0)) return ring;
  const start = Array.from({ length: count }, (_, index) => index).find((index) => !isOn(index));
  if (start === undefined) return ring;
  const turn = at(ring, 2 * count) - at(ring, 0);
  const rotated = new Float64Array(ring.length);
  for (let index = 0; index <= count; index++) {
    const from = start + index;
    const isWrapped = from >= count;
    rotated[2 * index] = at(ring, 2 * (isWrapped ? from - count : from)) + (isWrapped ? turn : 0);
    rotated[2 * index + 1] = at(ring, 2 * (isWrapped ? from - count : from) + 1);
  }
  return rotated;
}

function goesRound(unrolled: Line): boolean {
  return Math.abs(at(unrolled, unrolled.length - 2) - at(unrolled, 0)) > tolerance;
}

/**
 * Whether the inside lies to the left: the side with the smaller area. A ring that goes round a pole
 * has the pole of the smaller side inside, on a map with equal areas.
 */
function isInsideLeft(unrolled: Line): boolean {
  const turn = at(unrolled, unrolled.length - 2) - at(unrolled, 0);
  if (Math.abs(turn) <= tolerance) return signedArea(unrolled) >= 0;
  let height = 0;
  for (let index = 2; index < unrolled.length; index += 2) {
    const step = at(unrolled, index) - at(unrolled, index - 2);
    const middle = (at(unrolled, index + 1) + at(unrolled, index - 1)) / 2;
    height += step * Math.sin((middle * Math.PI) / 180);
  }
  // Eastward the north pole is on the left.
  return turn > 0 === height / turn >= 0;
}

/** Cuts an unrolled line into pieces of one turn each, between -180° and 180°. */
function cut(line: Line): Piece[] {
  const pieces: Piece[] = [];
  let turn = turnAt(line);
  let piece: [number, number][] = [[at(line, 0) - 360 * turn, at(line, 1)]];
  for (let index = 2; index < line.length; index += 2) {
    const next: [number, number] = [at(line, index), at(line, index + 1)];
    while (Math.abs(next[0] - 360 * turn) > 180) {
      const side = next[0] > 360 * turn ? 180 : -180;
      const [x = 0, y = 0] = piece.at(-1) ?? [];
      const step = next[0] - 360 * turn - x;
      const latitude = step === 0 ? y : y + ((next[1] - y) * (side - x)) / step;
      if (x !== side) piece.push([side, latitude]);
      pieces.push(piece);
      piece = [[-side, latitude]];
      turn += Math.sign(side);
    }
    const here: [number, number] = [next[0] - 360 * turn, next[1]];
    const last = piece.at(-1);
    if (last?.[0] !== here[0] || last[1] !== here[1]) piece.push(here);
  }
  pieces.push(piece);
  return pieces;
}

/** The turn in which a line begins. A line that begins on the antimeridian begins in the turn that it enters. */
function turnAt(line: Line): number {
  for (let index = 0; index < line.length; index += 2) {
    const turns = (at(line, index) + 180) / 360;
    if (!Number.isInteger(turns)) return Math.floor(turns);
    if (index > 0 && at(line, index) > at(line, index - 2)) return turns - 1;
    if (index > 0 && at(line, index) < at(line, index - 2)) return turns;
  }
  return at(line, 0) > 0 ? 0 : Math.floor((at(line, 0) + 180) / 360);
}

/** The pieces of a ring; the last one goes on in the first, so they are one. */
function cutRing(ring: Line): Piece[] {
  const pieces = cut(ring);
  const [first] = pieces;
  if (pieces.length < 2 || first === undefined) return pieces;
  const last = pieces.at(-1) ?? [];
  return [[...last.slice(0, -1), ...first], ...pieces.slice(1, -1)];
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

import type { Json } from "../model/json.ts";
import type { TokenStream, Token } from "./tokens.ts";

/** The nesting of the coordinates of each geometry type. */
const depths = new Map([
  ["POINT", ["Point", 0]],
  ["MULTIPOINT", ["MultiPoint", 1]],
  ["LINESTRING", ["LineString", 1]],
  ["MULTILINESTRING", ["MultiLineString", 2]],
  ["POLYGON", ["Polygon", 2]],
  ["MULTIPOLYGON", ["MultiPolygon", 3]],
] as const);
const others = new Set(["GEOMETRYCOLLECTION", "BBOX"]);

export function isGeometryWord({ type, value }: Token): boolean {
  return type === "word" && (others.has(value) || depths.has(value as "POINT"));
}

/** Parses well-known text to GeoJSON. */
export function parseWkt(tokens: TokenStream): Json {
  const word = tokens.take("word")?.value ?? "";
  if (word === "BBOX") return { bbox: list(tokens, () => number(tokens)) };
  if (word === "GEOMETRYCOLLECTION") {
    const part = () =>
      isGeometryWord(tokens.current) ? parseWkt(tokens) : tokens.refuse("a geometry");
    return { type: "GeometryCollection", geometries: list(tokens, part) };
  }
  // POLYGON Z ((…)) announces heights.
  if (!tokens.takeWord("Z")) tokens.takeWord("ZM");
  const kind = depths.get(word as "POINT");
  if (kind === undefined) return tokens.refuse("a geometry");
  const [type, depth] = kind;
  if (depth > 0) return { type, coordinates: nested(tokens, depth) };
  tokens.demandSymbol("(");
  const coordinates = position(tokens);
  tokens.demandSymbol(")");
  return { type, coordinates };
}

function nested(tokens: TokenStream, depth: number): Json {
  if (depth > 1) return list(tokens, () => nested(tokens, depth - 1));
  return list(tokens, () => {
    // The points of MULTIPOINT((1 2), (3 4)) may have parentheses of their own.
    const wrapped = tokens.takeSymbol("(") !== undefined;
    const read = position(tokens);
    if (wrapped) tokens.demandSymbol(")");
    return read;
  });
}

function position(tokens: TokenStream): number[] {
  const numbers = [number(tokens), number(tokens)];
  while (tokens.current.type === "number" || tokens.current.value === "-")
    numbers.push(number(tokens));
  return numbers;
}

function number(tokens: TokenStream): number {
  const sign = tokens.takeSymbol("-", "+") === "-" ? -1 : 1;
  const token = tokens.take("number");
  return token === undefined ? tokens.refuse("a number") : sign * Number(token.value);
}

function list<Value>(tokens: TokenStream, read: () => Value): Value[] {
  tokens.demandSymbol("(");
  const values = [read()];
  while (tokens.takeSymbol(",") !== undefined) values.push(read());
  tokens.demandSymbol(")");
  return values;
}

/**
 * Compares coordinate reference systems by their definitions. Names and codes may differ for the
 * same system: `EPSG:4326`, `OGC:CRS84` and a text without a code can be equal.
 */
import type { RasterCrs } from "./facts.ts";
import { findBelow, findChild, parseWkt, textOf } from "./wkt.ts";
import type { WktNode } from "./wkt.ts";

export type CrsKind = "geographic" | "projected" | "other";

export interface CrsMeaning {
  readonly kind: CrsKind;
  readonly datum: string;
  readonly semiMajorAxis: number;
  readonly inverseFlattening: number;
  readonly method: string;
  /** Parameters of the projection, in radians or metres. */
  readonly parameters: ReadonlyMap<string, number>;
  /** The length of one unit of the axes, in metres or radians. */
  readonly unit: number;
}

export function describeCrs(wkt2: string): RasterCrs | undefined {
  const root = parseWkt(wkt2);
  if (root === undefined) return undefined;
  const horizontal = horizontalOf(root);
  const name = textOf(root) || "unnamed";
  return { code: codeOf(root) ?? codeOf(horizontal) ?? null, name, wkt2 };
}

function codeOf(node: WktNode): string | undefined {
  const id = findChild(node, "ID", "AUTHORITY");
  const [authority, code] = id?.values ?? [];
  if (typeof authority !== "string" || code === undefined) return undefined;
  return `${authority}:${code}`;
}

/** The horizontal part of a compound system. */
function horizontalOf(root: WktNode): WktNode {
  if (root.keyword === "BOUNDCRS") {
    const source = findChild(root, "SOURCECRS");
    return horizontalOf(source?.children[0] ?? root);
  }
  if (root.keyword !== "COMPOUNDCRS" && root.keyword !== "COMPD_CS") return root;
  return horizontalOf(root.children[0] ?? root);
}

const projected = new Set(["PROJCRS", "PROJECTEDCRS", "PROJCS"]);
const geographic = new Set(["GEOGCRS", "GEOGRAPHICCRS", "GEOGCS", "GEODCRS", "GEODETICCRS"]);

export function meaningOf(crs: RasterCrs): CrsMeaning | undefined {
  const root = parseWkt(crs.wkt2);
  if (root === undefined) return undefined;
  const node = horizontalOf(root);
  const kind = projected.has(node.keyword)
    ? "projected"
    : geographic.has(node.keyword)
      ? "geographic"
      : "other";
  const ellipsoid = findBelow(node, "ELLIPSOID", "SPHEROID");
  const [, axis, flattening] = ellipsoid?.values ?? [];
  const lengthUnit = ellipsoid === undefined ? 1 : unitOf(ellipsoid, 1);
  const conversion = findChild(node, "CONVERSION") ?? node;
  return {
    kind,
    datum: datumName(findBelow(node, "DATUM", "ENSEMBLE", "GEODETICDATUM", "TRF")),
    semiMajorAxis: typeof axis === "number" ? axis * lengthUnit : Number.NaN,
    inverseFlattening: typeof flattening === "number" ? flattening : Number.NaN,
    method: kind === "projected" ? methodOf(conversion) : "",
    parameters: kind === "projected" ? parametersOf(conversion) : new Map(),
    unit: axisUnit(node, kind),
  };
}

const oneDegree = Math.PI / 180;

function unitOf(node: WktNode, otherwise: number): number {
  const unit = findChild(node, "LENGTHUNIT", "ANGLEUNIT", "SCALEUNIT", "UNIT");
  const value = unit?.values[1];
  return typeof value === "number" ? value : otherwise;
}

function axisUnit(node: WktNode, kind: CrsKind): number {
  const axis = findChild(node, "AXIS");
  const otherwise = kind === "geographic" ? oneDegree : 1;
  const own = unitOf(node, otherwise);
  return axis === undefined ? own : unitOf(axis, own);
}

const aliases: ReadonlyMap<string, string> = new Map([
  ["wgs84", "worldgeodeticsystem1984"],
  ["wgs1984", "worldgeodeticsystem1984"],
  ["etrs89", "europeanterrestrialreferencesystem1989"],
  ["etrs1989", "europeanterrestrialreferencesystem1989"],
  ["nad83", "northamericandatum1983"],
  ["northamerican1983", "northamericandatum1983"],
]);

function datumName(node: WktNode | undefined): string {
  const plain = textOf(node)
    .toLowerCase()
    .replace(/^d_/, "")
    .replace(/ ensemble$/, "")
    .replaceAll(/[^a-z0-9]/g, "");
  return aliases.get(plain) ?? plain;
}

const plainName = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

function methodOf(conversion: WktNode): string {
  return plainName(textOf(findChild(conversion, "METHOD", "PROJECTION")));
}

function parametersOf(conversion: WktNode): Map<string, number> {
  const found = new Map<string, number>();
  for (const child of conversion.children) {
    const [name, value] = child.values;
    if (child.keyword !== "PARAMETER" || typeof name !== "string") continue;
    if (typeof value !== "number") continue;
    found.set(plainName(name), value * unitOf(child, 1));
  }
  return found;
}

export function isSameCrs(left: RasterCrs, right: RasterCrs): boolean {
  if (left.code !== null && left.code === right.code) return true;
  const a = meaningOf(left);
  const b = meaningOf(right);
  if (a === undefined || b === undefined) return false;
  if (a.kind === "other" || b.kind === "other") return left.wkt2 === right.wkt2;
  return (
    a.kind === b.kind &&
    a.datum === b.datum &&
    a.method === b.method &&
    isNear(a.semiMajorAxis, b.semiMajorAxis) &&
    isNear(a.inverseFlattening, b.inverseFlattening) &&
    isNear(a.unit, b.unit) &&
    haveSameParameters(a.parameters, b.parameters)
  );
}

/** A parameter that is not written counts as zero: definitions leave out false eastings. */
function haveSameParameters(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
): boolean {
  const names = new Set([...a.keys(), ...b.keys()]);
  return [...names].every((name) => isNear(a.get(name) ?? 0, b.get(name) ?? 0));
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** All of the Earth's ellipsoids lie within; Venus (6052 km) and everything smaller do not. */
const earthAxis = { least: 6_300_000, most: 6_420_000 };

export function isEarth(crs: RasterCrs): boolean {
  const axis = meaningOf(crs)?.semiMajorAxis ?? Number.NaN;
  return Number.isNaN(axis) || (axis >= earthAxis.least && axis <= earthAxis.most);
}

/**
 * The accepted forms of a CRS in a parameter. GDAL would also open a file or an address for one,
 * and a parameter from outside must not make it do so.
 */
const forms: readonly RegExp[] = [
  /^[A-Za-z][A-Za-z0-9_]{1,31}:[A-Za-z0-9_.-]{1,32}$/,
  /^urn:ogc:def:crs:[A-Za-z0-9_.:-]{1,128}$/i,
  /^\+(?:proj|type)=[A-Za-z]/,
  /^(?:PROJ|GEOG|GEOD|BOUND|COMPOUND|PROJECTED|GEOGRAPHIC|GEODETIC|ENG|LOCAL)(?:CRS|CS|_CS)\s*[[(]/i,
  /^COMPD_CS\s*[[(]/i,
  /^\{[^]*"type"\s*:\s*"[A-Za-z]*CRS"/,
];

/** Parameters for which PROJ reads a file. */
const namesFile = /\+(?:init|nadgrids|geoidgrids|grids|pipeline|file)\b/i;

/** Schemes of addresses look like `AUTHORITY:CODE`. */
const scheme = /^(?:https?|ftp|file|data|vsi[a-z0-9_]*):/i;

export function isCrsText(text: string): boolean {
  const trimmed = text.trim();
  return (
    forms.some((form) => form.test(trimmed)) && !namesFile.test(trimmed) && !scheme.test(trimmed)
  );
}

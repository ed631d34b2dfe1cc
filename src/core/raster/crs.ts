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
  /** In radians from Greenwich. */
  readonly primeMeridian: number;
  /** The directions of the axes in their order, such as north and east. */
  readonly axes: readonly string[];
}

export function describeCrs(wkt2: string): RasterCrs | undefined {
  const root = parseWkt(wkt2);
  if (root === undefined) return undefined;
  const name = textOf(root) || "unnamed";
  // The code of its horizontal part would name another system, one without heights.
  const own = isCompound(root) ? root : horizontalOf(root);
  const code = codeOf(root) ?? codeOf(own) ?? (isWebMercator(wkt2) ? webMercator : null);
  return { code, name, wkt2 };
}

/** A system in few words: its code, or its name where it has none. Takes WKT, PROJJSON and codes. */
export function nameCrs(definition: string): string {
  const described = describeCrs(definition) ?? describeProjJson(definition);
  return described === undefined ? definition.slice(0, 100) : (described.code ?? described.name);
}

function describeProjJson(text: string): Pick<RasterCrs, "code" | "name"> | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const { name, id } = JSON.parse(text) as {
      name?: string;
      id?: { authority?: string; code?: string | number };
    };
    const code =
      id?.authority === undefined || id.code === undefined ? null : `${id.authority}:${id.code}`;
    return { code, name: name ?? "unnamed" };
  } catch {
    return undefined;
  }
}

const webMercator = "EPSG:3857";

/** True for every spelling of web Mercator: ArcGIS writes it without a code. */
export function isWebMercator(wkt2: string): boolean {
  const meaning = meaningOf({ code: null, name: "", wkt2 });
  if (meaning?.kind !== "projected") return false;
  const { method, semiMajorAxis, unit, parameters } = meaning;
  const isMethod =
    method === "popularvisualisationpseudomercator" || method === "mercatorauxiliarysphere";
  return (
    isMethod &&
    semiMajorAxis === 6_378_137 &&
    unit === 1 &&
    [...parameters.values()].every((value) => value === 0)
  );
}

function isCompound({ keyword }: WktNode): boolean {
  return keyword === "COMPOUNDCRS" || keyword === "COMPD_CS";
}

/** The definition of the horizontal part; the text itself where it has no other part. */
export function horizontalWkt(wkt2: string): string {
  const root = parseWkt(wkt2);
  return root === undefined ? wkt2 : horizontalOf(root).text;
}

const local = new Set(["ENGCRS", "ENGINEERINGCRS", "LOCAL_CS"]);

/** True for a system of a building site or an image, which has no place on the globe. */
export function isLocalSystem(wkt2: string): boolean {
  const root = parseWkt(wkt2);
  return root !== undefined && local.has(horizontalOf(root).keyword);
}

export const wgs84Wkt =
  'GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],CS[ellipsoidal,2],AXIS["geodetic latitude (Lat)",north,ORDER[1],ANGLEUNIT["degree",0.0174532925199433]],AXIS["geodetic longitude (Lon)",east,ORDER[2],ANGLEUNIT["degree",0.0174532925199433]],ID["EPSG",4326]]';

export interface VerticalCrs {
  readonly code: string | null;
  readonly name: string;
}

/** The system of the heights; undefined for a system without heights. */
export function verticalOf(wkt2: string): VerticalCrs | undefined {
  const root = parseWkt(wkt2);
  if (root === undefined || !isCompound(root)) return undefined;
  const part = findChild(root, "VERTCRS", "VERTICALCRS", "VERT_CS");
  return part && { code: codeOf(part) ?? null, name: textOf(part) || "unnamed" };
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
  if (!isCompound(root)) return root;
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
    primeMeridian: meridianOf(findBelow(node, "PRIMEM", "PRIMEMERIDIAN")),
    axes: node.children.filter(({ keyword }) => keyword === "AXIS").map(directionOf),
  };
}

/** False also for a definition that cannot be read. */
export function isGeographic(wkt2: string): boolean {
  return meaningOf({ code: null, name: "", wkt2 })?.kind === "geographic";
}

const oneDegree = Math.PI / 180;

function meridianOf(node: WktNode | undefined): number {
  const value = node?.values[1];
  return node === undefined || typeof value !== "number" ? 0 : value * unitOf(node, oneDegree);
}

function directionOf({ values }: WktNode): string {
  return String(values[1] ?? "").toLowerCase();
}

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
    isNear(a.primeMeridian, b.primeMeridian) &&
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

/**
 * Parameters for which PROJ reads a file: in a PROJ string, where the plus signs may be left out, in
 * WKT and in PROJJSON, in which only the name of a file is a text.
 */
const namesFile =
  /(?<![a-z_])(?:init|nadgrids|geoidgrids|grids|file)\s*=|=\s*pipeline|PARAMETERFILE|"value"\s*:\s*"/i;

/** Schemes of addresses look like `AUTHORITY:CODE`. */
const scheme = /^(?:https?|ftp|file|data|vsi[a-z0-9_]*):/i;

export function isCrsText(text: string): boolean {
  const trimmed = text.trim();
  return (
    forms.some((form) => form.test(trimmed)) && !namesFile.test(trimmed) && !scheme.test(trimmed)
  );
}

import type { Collection, MultiGeometry } from "../vector/geojson.ts";
import { toGeoJson } from "../vector/geojson.ts";
import { readWkb } from "../vector/read-wkb.ts";

export interface ServedFeature {
  readonly fid: number;
  readonly wkb: Uint8Array;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A tenth of a millimetre: as PostGIS writes GeoJSON, and far finer than any survey. */
const precision = 1e9;
const round = (value: number): number => Math.round(value * precision) / precision;

export function featureText({ fid, wkb, properties }: ServedFeature): string {
  const geometry = toGeoJson(roundAll(wkb));
  return JSON.stringify({ type: "Feature", id: fid, geometry, properties });
}

function roundAll(wkb: Uint8Array) {
  const { points, lines, polygons } = readWkb(wkb);
  return {
    points: points.map(round),
    lines: lines.map((line) => line.map(round)),
    polygons: polygons.map((polygon) => polygon.map((ring) => ring.map(round))),
  };
}

/** CSV with a heading; the geometry is the last column, as WKT. */
export function csvText(features: readonly ServedFeature[], columns: readonly string[]): string {
  const rows = features.map(({ fid, wkb, properties }) => [
    String(fid),
    ...columns.map((name) => cell(properties[name])),
    cell(toWkt(toGeoJson(roundAll(wkb)))),
  ]);
  return [["fid", ...columns, "geom"], ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function toWkt(geometry: MultiGeometry | Collection): string {
  if (geometry.type === "GeometryCollection") {
    return `GEOMETRYCOLLECTION (${geometry.geometries.map(toWkt).join(", ")})`;
  }
  return `${geometry.type.toUpperCase()} ${listText(geometry.coordinates)}`;
}

function listText(coordinates: unknown): string {
  if (!Array.isArray(coordinates)) return "";
  const parts = coordinates.map((part: unknown) =>
    Array.isArray(part) && typeof part[0] === "number" ? part.join(" ") : listText(part),
  );
  return `(${parts.join(", ")})`;
}

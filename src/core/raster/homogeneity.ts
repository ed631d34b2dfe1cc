/** Checks whether many rasters can form one collection, and names the differences file by file. */
import { isSameCrs } from "./crs.ts";
import type { RasterCrs, RasterType, Transform } from "./facts.ts";

export interface CollectionMember {
  readonly blob_path: string;
  readonly band_count: number;
  readonly data_type: string;
  readonly crs: RasterCrs | null;
  readonly transform: Transform | null;
  readonly raster_type: RasterType;
}

export interface HomogeneityFinding {
  readonly code: "H-1" | "H-2" | "H-3" | "H-4" | "H-5";
  readonly blob_path: string;
  readonly message: string;
}

/** Pixel sizes may differ by this share, as they do between UTM zones and after rounding. */
const resolutionTolerance = 0.2;

/** Compares every raster with one of the majority, so that the odd one is named and not the others. */
export function checkHomogeneity(members: readonly CollectionMember[]): HomogeneityFinding[] {
  const usual = findUsual(members);
  return usual === undefined ? [] : members.flatMap((member) => compare(usual, member));
}

/** The first member of the largest group that is alike in everything but the size of its pixels. */
function findUsual(members: readonly CollectionMember[]): CollectionMember | undefined {
  const groups = new Map<string, CollectionMember[]>();
  for (const member of members) {
    const { band_count, data_type, crs, raster_type } = member;
    const size = pixelSize(member.transform)?.toPrecision(2);
    const key = [band_count, data_type, labelOf(crs), raster_type, size].join("|");
    groups.set(key, [...(groups.get(key) ?? []), member]);
  }
  return [...groups.values()].toSorted((a, b) => b.length - a.length)[0]?.[0];
}

function compare(first: CollectionMember, member: CollectionMember): HomogeneityFinding[] {
  const { blob_path } = member;
  const findings: HomogeneityFinding[] = [];
  const differ = (code: HomogeneityFinding["code"], what: string, a: unknown, b: unknown) => {
    const message = `${what}: ${String(b)}, while "${first.blob_path}" has ${String(a)}.`;
    findings.push({ code, blob_path, message });
  };
  if (first.band_count !== member.band_count) {
    differ("H-1", "Number of bands", first.band_count, member.band_count);
  }
  if (first.data_type !== member.data_type) {
    differ("H-2", "Data type", first.data_type, member.data_type);
  }
  if (!haveSameCrs(first.crs, member.crs)) {
    differ("H-3", "CRS", labelOf(first.crs), labelOf(member.crs));
  }
  const a = pixelSize(first.transform);
  const b = pixelSize(member.transform);
  const isNear =
    a !== undefined && b !== undefined && Math.abs(a - b) <= resolutionTolerance * Math.max(a, b);
  if (!isNear && a !== b) differ("H-4", "Size of a pixel", a, b);
  if (first.raster_type !== member.raster_type) {
    differ("H-5", "Kind of raster", first.raster_type, member.raster_type);
  }
  return findings;
}

function haveSameCrs(a: RasterCrs | null, b: RasterCrs | null): boolean {
  return a === null || b === null ? a === b : isSameCrs(a, b);
}

function labelOf(crs: RasterCrs | null): string {
  return crs === null ? "none" : (crs.code ?? crs.name);
}

function pixelSize(transform: Transform | null): number | undefined {
  if (transform === null) return undefined;
  const [a, b, , d, e] = transform;
  return Math.sqrt(Math.abs(a * e - b * d));
}

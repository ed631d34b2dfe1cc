import { z } from "zod";
import { fileProblems } from "../files/problem.ts";

/**
 * reject: the raster cannot be served as a layer. fix: a defect that is repaired while the COG is
 * made. warn: a person should look at it. info: a fact, not a defect.
 */
export const findingSeverity = z.enum(["reject", "fix", "warn", "info"]);

export const rasterFinding = z.object({
  code: z.string(),
  severity: findingSeverity,
  message: z.string(),
  /** What the submitter can do about it. */
  remedy: z.string(),
});
export type RasterFinding = z.infer<typeof rasterFinding>;

export const verdict = z.enum(["green", "warning", "rejected"]);
export type Verdict = z.infer<typeof verdict>;

type Severity = z.infer<typeof findingSeverity>;

/** Every code that judging a raster can give; docs/raster.md lists them with these remedies. */
export const rasterFindings = {
  FILE_EMPTY: ["reject", "Upload the file again; the one in storage has no content."],
  INVALID_FORMAT: [
    "reject",
    "Convert it to GeoTIFF (gdal_translate in.ext out.tif) and submit that.",
  ],
  CODEC_NOT_SUPPORTED: [
    "reject",
    "Compress the file with DEFLATE where its compression can be read (gdal_translate -co COMPRESS=DEFLATE in.tif out.tif), or run a worker whose GDAL has it: /health shows the codecs of each.",
  ],
  FORMAT_NOT_SUPPORTED: [
    "reject",
    "Convert it to GeoTIFF where it can be read (gdal_translate in.ext out.tif), or run a worker with native GDAL in a sandbox: /health shows the engine and the drivers of each.",
  ],
  VARIABLE_NOT_FOUND: ["reject", "Name one of its variables with the input variable."],
  NO_GRID: [
    "reject",
    "Series, tables and swaths are no rasters. Grid what is to be shown, and submit that as GeoTIFF or NetCDF.",
  ],
  TOO_MANY_LAYERS: [
    "reject",
    "Name one of its variables with the input variable, or cut the file by time.",
  ],
  VARIABLES_AS_BANDS: ["info", "Nothing to do: each band is named after its variable and time."],
  BANDS_EMPTY_APART: [
    "fix",
    "Nothing to do: masks and nodata values of single bands become one nodata value for all bands.",
  ],
  FILE_CORRUPTED: [
    "reject",
    "Get the file again from its source and compare checksums; the damage is in the file itself.",
  ],
  HEADER_IMPLAUSIBLE: [
    "reject",
    "The header claims more than the file can hold. Get the file again from its source.",
  ],
  EXTERNAL_REFERENCE: [
    "reject",
    "Write it anew without that metadata (gdal_translate -co PROFILE=GeoTIFF in.tif out.tif) and submit that.",
  ],
  SIDECAR_INVALID: ["reject", fileProblems.SIDECAR_INVALID],
  CRS_MISSING: [
    "reject",
    "Name it with source_crs, or write it into the file: gdal_edit.py -a_srs EPSG:NNNN file.tif",
  ],
  CRS_NOT_UNDERSTOOD: ["reject", "Give a code such as EPSG:32618, a PROJ string or WKT."],
  CRS_OVERRIDE: ["fix", "Nothing to do: the given CRS is used. Check that the layer lies right."],
  CRS_MISMATCH: [
    "reject",
    "Leave source_crs out to use the file's own CRS, or correct the file if that one is wrong.",
  ],
  CRS_WITHOUT_CODE: [
    "warn",
    "Nothing to do: the definition is kept as WKT2. If it is a known CRS, write its code into the file.",
  ],
  CRS_NOT_EARTH: ["reject", "Only data of the Earth can be catalogued in longitude and latitude."],
  GEOTRANSFORM_MISSING: [
    "reject",
    "Georeference it: gdal_translate -a_ullr west north east south in.tif out.tif, or deliver its world file inside.",
  ],
  GCPS_TOO_FEW: [
    "reject",
    "Deliver at least three ground control points that are not on a line, or the place of its edges: gdal_translate -a_srs EPSG:NNNN -a_ullr west north east south in.tif out.tif",
  ],
  CRS_LOCAL: [
    "reject",
    "A local system has no place on the globe. If its coordinates are those of a known system, name it with source_crs.",
  ],
  TRANSFORMATION_GRID_MISSING: [
    "warn",
    "Install the grids on the worker (Debian: proj-data) if metres matter; otherwise nothing to do.",
  ],
  TRANSFORMATION_UNKNOWN: [
    "warn",
    "Compare it with a map. If it lies elsewhere, transform it yourself with the parameters of its system, and submit it in WGS 84.",
  ],
  VERTICAL_DATUM: ["info", "Nothing to do: heights are kept as they are, in that system."],
  SAMPLE_SIZE: ["fix", "Nothing to do: samples are stored in the next size that maps can show."],
  FURTHER_IMAGES: [
    "warn",
    "Submit each image of the file by itself: gdal_translate GTIFF_DIR:2:in.tif second.tif",
  ],
  CLASS_TABLE: ["info", "Nothing to do: the names of its classes are kept in the catalogue."],
  PALETTE_MISSING: [
    "warn",
    "It is shown in grey. Give it colours by a style of the layer, or write a table into the file.",
  ],
  COMPRESSION_UNSUITABLE: [
    "reject",
    "Leave compression out, or choose deflate, zstd or lzw, which suit every type.",
  ],
  GCPS_ONLY: ["fix", "Nothing to do: it is warped from its ground control points."],
  NOT_NORTH_UP: ["fix", "Nothing to do: it is warped so that north is up."],
  SUSPICIOUS_BOUNDS: [
    "warn",
    "Check the CRS: the coordinates do not fit it. If it is mislabelled, correct the file.",
  ],
  CROSSES_ANTIMERIDIAN: [
    "fix",
    "Nothing to do: the footprint is split at 180° and the box runs from west to east across it.",
  ],
  BIT_DEPTH_POLICY_VIOLATION: [
    "reject",
    "Convert it to a smaller type (gdal_translate -ot Float32 in.tif out.tif), or submit with allow_downcast.",
  ],
  BIT_DEPTH_DOWNCAST: ["fix", "Nothing to do: it is stored in the smaller type, as asked."],
  INEFFICIENT_BIT_DEPTH: [
    "warn",
    "It holds few whole numbers: an integer type would be smaller and faster (gdal_translate -ot Byte).",
  ],
  SIXTEEN_BIT_IMAGERY: [
    "fix",
    "Nothing to do: the analysis tier keeps all bits, the visualization tier is scaled to 8.",
  ],
  RASTER_EMPTY: [
    "reject",
    "Check the export, and whether nodata is declared right. If so sparse data is meant, raise max_nodata_percent.",
  ],
  RASTER_SPARSE: ["warn", "Check that so much of it is meant to be empty."],
  NODATA_IN_DATA_RANGE: [
    "warn",
    "Valid pixels may be taken for empty ones: choose a nodata value outside of the data.",
  ],
  RASTER_NODATA_CONFLICT: [
    "reject",
    "Choose a nodata value outside of the data, then submit again.",
  ],
  RASTER_EXTREME_VALUES: [
    "reject",
    "Such numbers usually mean that nodata is not declared: submit with nodata, or gdal_edit.py -a_nodata VALUE file.tif",
  ],
  VERY_NEGATIVE_VALUES: [
    "warn",
    "Such numbers usually mean that nodata is not declared: submit with nodata.",
  ],
  NODATA_NOT_DECLARED: ["warn", "If that value means empty, submit with nodata set to it."],
  NODATA_NOT_REPRESENTABLE: [
    "fix",
    "Nothing to do: the type cannot hold the declared nodata value, so it is dropped.",
  ],
  NAN_WITHOUT_NODATA: ["fix", "Nothing to do: NaN is declared as nodata."],
  NODATA_AND_ALPHA: ["warn", "Both say which pixels are empty; the nodata value counts."],
  ALPHA_NOT_LAST: [
    "reject",
    "Write alpha as the last band: gdal_translate -b 2 -b 3 -b 4 -b 1 -colorinterp red,green,blue,alpha in.tif out.tif",
  ],
  NODATA_AND_MASK: [
    "fix",
    "Nothing to do: both say which pixels are empty; the mask counts, as in GDAL, and the nodata value is dropped.",
  ],
  PALETTE: ["info", "Nothing to do: classes are kept as they are, resampled by nearest neighbour."],
  RASTER_TYPE_MISMATCH: ["reject", "Leave raster_type out, or submit the file that you described."],
  ALREADY_COG: [
    "info",
    "Nothing to do: unless another CRS or encoding is asked for, it is copied as it is.",
  ],
} as const satisfies Record<string, readonly [Severity, string]>;

export type RasterFindingCode = keyof typeof rasterFindings;

/** Remedies for cases of BIT_DEPTH_POLICY_VIOLATION in which allow_downcast has no effect. */
export const bitDepthRemedies = {
  complex:
    "Submit their amplitude: gdal_translate -ot Float32 DERIVED_SUBDATASET:AMPLITUDE:in.tif out.tif (or PHASE).",
  tooLarge:
    "No type of 32 bits holds its values. Convert it to floating point, which rounds them: gdal_translate -ot Float32 in.tif out.tif",
} as const;

/** The remedy of GEOTRANSFORM_MISSING for arrays of NetCDF, HDF and Zarr, which may lie on their side. */
export const arrayRemedy =
  'GDAL places arrays with rows of latitude and columns of longitude that have coordinates. Write it so, for example with xarray: ds.transpose("time", "lat", "lon").to_netcdf("out.nc")';

export function makeFinding(
  code: RasterFindingCode,
  message: string,
  other: { readonly severity?: Severity; readonly remedy?: string } = {},
): RasterFinding {
  const [severity, remedy] = rasterFindings[code];
  return { code, severity, message, remedy, ...other };
}

/** The findings, besides rejections, whose remedy changes the file. */
const changing: ReadonlySet<string> = new Set<RasterFindingCode>([
  "CRS_OVERRIDE",
  "GCPS_ONLY",
  "NOT_NORTH_UP",
  "SAMPLE_SIZE",
  "PALETTE_MISSING",
  "BIT_DEPTH_DOWNCAST",
  "NODATA_NOT_REPRESENTABLE",
  "NAN_WITHOUT_NODATA",
]);

export function changesFile({ code, severity }: RasterFinding): boolean {
  return severity === "reject" || changing.has(code);
}

export function verdictOf(findings: readonly RasterFinding[]): Verdict {
  if (findings.some(({ severity }) => severity === "reject")) return "rejected";
  return findings.every(({ severity }) => severity === "info") ? "green" : "warning";
}

const order: readonly Severity[] = ["reject", "fix", "warn", "info"];

/** Sorts the worst finding first, because a job's error shows it first. */
export function sortFindings(findings: readonly RasterFinding[]): RasterFinding[] {
  return findings.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}

export function describeFindings(findings: readonly RasterFinding[]): string {
  return sortFindings(findings)
    .filter(({ severity }) => severity === "reject")
    .map(({ code, message, remedy }) => `${code}: ${message} ${remedy}`)
    .join(" ");
}

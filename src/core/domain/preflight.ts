/**
 * Checks a submission before anything runs. All findings are returned at once, and nothing is
 * created while there is one. Pure: the caller checks that the blobs in the answer exist.
 */
import type { ProblemItem } from "../errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { WorkflowDefinition } from "../model/workflow.ts";
import { checkInputs } from "../dag/check-inputs.ts";
import { taskOf } from "../model/workflow.ts";

export interface Preflight {
  readonly inputs: JsonObject;
  readonly findings: readonly ProblemItem[];
  /** Source files that must exist. */
  readonly blobs: readonly BlobInput[];
}

export interface BlobInput {
  readonly pointer: string;
  readonly blob_path: string;
  readonly container: string | undefined;
}

const words = (text: string): readonly string[] => text.split(/\s+/);
const rasterFiles = words(`tif tiff gtiff cog vrt jp2 img asc nc hdf h5 grb grib2 png jpg jpeg ecw
  sid dem hgt bil zip`);
const vectorFiles = words(`shp zip gpkg geojson json geojsonl fgb kml kmz csv gml gdb tab parquet`);

export function preflight(definition: WorkflowDefinition, given: JsonObject): Preflight {
  const checked = checkInputs(definition, given);
  const findings: ProblemItem[] = checked.ok
    ? []
    : checked.problems.map(({ pointer, code, message }) => ({
        pointer: `/inputs${pointer}`,
        code,
        message,
      }));
  const inputs = checked.ok ? checked.inputs : { ...defaultsOf(definition), ...given };
  const files = filesOf(definition);
  const blobs: BlobInput[] = [];
  for (const [name, value] of Object.entries(inputs)) {
    for (const [pointer, blob_path] of blobsOf(name, value)) {
      const wrong = extensionProblem(blob_path, files);
      if (wrong !== undefined) findings.push({ pointer, code: "EXTENSION", message: wrong });
      blobs.push({ pointer, blob_path, container: containerOf(name, inputs) });
    }
    if (typeof value !== "string") continue;
    const pointer = `/inputs/${name}`;
    if (/^(?:.+_)?crs$/.test(name) && !isCrs(value)) {
      const message = "must be such as EPSG:4326, a PROJ string or WKT";
      findings.push({ pointer, code: "CRS_FORMAT", message });
    }
  }
  return { inputs, findings, blobs };
}

/** Lists `blob_path`, and each of `blob_paths`, with its JSON pointer. */
function blobsOf(name: string, value: Json | undefined): [string, string][] {
  const pointer = `/inputs/${name}`;
  if (/^(?:.+_)?blob_path$/.test(name)) {
    return typeof value === "string" ? [[pointer, value]] : [];
  }
  if (!/^(?:.+_)?blob_paths$/.test(name) || !Array.isArray(value)) return [];
  return (value as readonly Json[]).flatMap((each, index): [string, string][] =>
    typeof each === "string" ? [[`${pointer}/${index}`, each]] : [],
  );
}

function defaultsOf({ inputs = {} }: WorkflowDefinition): JsonObject {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, declared]) =>
      declared.default === undefined ? [] : [[name, declared.default] as const],
    ),
  );
}

/** `source_blob_path` belongs to `source_container`. */
function containerOf(name: string, inputs: JsonObject): string | undefined {
  const container = inputs[name.replace(/blob_paths?$/, "container")];
  return typeof container === "string" ? container : undefined;
}

/** Undefined: the workflow reads no geospatial file whose formats we know. */
function filesOf(definition: WorkflowDefinition): readonly string[] | undefined {
  const handlers = handlersOf(definition);
  if (handlers.some((handler) => handler.startsWith("vector_"))) return vectorFiles;
  if (handlers.some((handler) => /^raster[._]/.test(handler))) return rasterFiles;
  return undefined;
}

function extensionProblem(path: string, files: readonly string[] | undefined): string | undefined {
  if (files === undefined) return undefined;
  const extension = /\.([A-Za-z0-9]+)$/.exec(path.split(/[?#]/, 1)[0] ?? "")?.[1]?.toLowerCase();
  if (extension !== undefined && files.includes(extension)) return undefined;
  return `must end with one of ${files.map((each) => `.${each}`).join(" ")}`;
}

export function isCrs(text: string): boolean {
  return (
    /^[A-Za-z][A-Za-z0-9_]{1,15}:[A-Za-z0-9_.]{1,32}$/.test(text) ||
    /^\+(?:proj|init)=\S/.test(text) ||
    /^(?:GEOGCS|PROJCS|GEOCCS|COMPD_CS|GEOGCRS|PROJCRS|GEODCRS|BOUNDCRS|COMPOUNDCRS)\s*\[/.test(
      text,
    ) ||
    /^\s*\{\s*"/.test(text)
  );
}

/**
 * Whether a source lies in a place where the platform's files may lie: places such as `bronze/ddh`
 * or `https://data.example.org/ddh`, and everything below them. A platform without any such place
 * may read from every allowed source.
 */
export function isBelow(display: string, prefixes: readonly string[]): boolean {
  if (prefixes.length === 0) return true;
  const place = placeOf(display);
  // A server may decode an encoded slash, and a mount may follow "..": both can lead elsewhere.
  if (/(?:^|\/)\.\.(?:\/|$)|%2f|%5c|%2e/i.test(place)) return false;
  return prefixes.some((prefix) => {
    const folder = prefix.replace(/\/+$/, "");
    return place === folder || place.startsWith(`${folder}/`);
  });
}

/** A path inside an archive counts as the path of the archive. */
export function placeOf(display: string): string {
  return display.replace(/^(?:\/vsi(?:zip|tar|gzip)\/)+/, "");
}

/**
 * Handlers that work on the whole catalogue or on the external zone, across all platforms: a
 * platform that could start them could change another platform's data. The orchestrator and
 * operators run these workflows; the view `gateway.workflows` has the same rule.
 */
const maintenance = /^(?:export|stac)\./;

export function isForPlatforms({ nodes }: Pick<WorkflowDefinition, "nodes">): boolean {
  return !handlersOf({ nodes }).some((handler) => maintenance.test(handler));
}

export function handlersOf({ nodes }: Pick<WorkflowDefinition, "nodes">): string[] {
  return Object.values(nodes).flatMap((node) => taskOf(node)?.handler ?? []);
}

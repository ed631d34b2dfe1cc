/**
 * Checks a submission before anything runs. All findings are returned at once, and nothing is
 * created while there is one. Pure: the caller checks that the blobs in the answer exist.
 */
import type { ProblemItem } from "../errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { WorkflowDefinition } from "../model/workflow.ts";
import { checkInputs } from "../dag/check-inputs.ts";
import { taskOf } from "../model/workflow.ts";
import { isCrsText } from "../raster/crs.ts";
import { endingOf, knownEndings } from "../vector/source-format.ts";

export interface Preflight {
  readonly inputs: JsonObject;
  readonly findings: readonly ProblemItem[];
  /** Source files that must exist. */
  readonly blobs: readonly BlobInput[];
  /** Collections that the items join. */
  readonly collections: readonly CollectionInput[];
}

export interface CollectionInput {
  readonly pointer: string;
  readonly collection_id: string;
}

export interface BlobInput {
  readonly pointer: string;
  readonly blob_path: string;
  readonly container: string | undefined;
}

/** Endings of the rasters whose content is accepted: see `rasterDriverOf`, and Zarr. */
const rasterFiles: readonly string[] = (
  ".tif .tiff .gtiff .cog .jp2 .j2k .img .png .jpg .jpeg " +
  ".nc .nc4 .cdf .h5 .hdf .hdf5 .he5 .h4 .grb .grb2 .grib .grib2 .zarr .zip"
).split(" ");

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
  const collections: CollectionInput[] = [];
  for (const [name, value] of declaredOf(definition, inputs)) {
    for (const [pointer, blob_path] of blobsOf(name, value)) {
      const wrong = extensionProblem(blob_path, files);
      if (wrong !== undefined) findings.push({ pointer, code: "EXTENSION", message: wrong });
      blobs.push({ pointer, blob_path, container: containerOf(name, inputs) });
    }
    if (typeof value !== "string") continue;
    const pointer = `/inputs/${name}`;
    if (/^(?:.+_)?collection_id$/.test(name)) collections.push({ pointer, collection_id: value });
    if (/^(?:.+_)?crs$/.test(name) && !isCrsText(value)) {
      const message = "must be such as EPSG:4326, a PROJ string or WKT, and name no file";
      findings.push({ pointer, code: "CRS_FORMAT", message });
    }
  }
  return { inputs, findings, blobs, collections };
}

/** Inputs that are not declared are findings already, and there may be thousands of them. */
function declaredOf({ inputs: declared }: WorkflowDefinition, given: JsonObject): [string, Json][] {
  if (declared === undefined) return Object.entries(given);
  return Object.keys(declared).flatMap((name): [string, Json][] =>
    Object.hasOwn(given, name) ? [[name, given[name] ?? null]] : [],
  );
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
  if (handlers.some((handler) => handler.startsWith("vector_"))) return knownEndings;
  if (handlers.some((handler) => /^raster[._]/.test(handler))) return rasterFiles;
  return undefined;
}

function extensionProblem(path: string, files: readonly string[] | undefined): string | undefined {
  if (files === undefined) return undefined;
  if (files.includes(endingOf(path.split(/[?#]/, 1)[0] ?? ""))) return undefined;
  return `must end with one of ${files.join(" ")}`;
}

/**
 * Whether a source lies in a place where the platform's files may lie: places such as `bronze/ddh`
 * or `https://data.example.org/ddh`, and everything below them.
 */
export function isBelow(display: string, prefixes: readonly string[]): boolean {
  // A server may decode an encoded slash, and a mount may follow "..": both can lead elsewhere.
  if (/(?:^|\/)\.\.(?:\/|$)|%2f|%5c|%2e/i.test(display)) return false;
  return prefixes.some((prefix) => {
    const folder = prefix.replace(/\/+$/, "");
    return display === folder || display.startsWith(`${folder}/`);
  });
}

/** Where the files of a platform may lie: the places that an operator named, or its own folder. */
export function sourcePrefixesOf({
  platform_id,
  source_prefixes,
}: {
  readonly platform_id: string;
  readonly source_prefixes: readonly string[];
}): readonly string[] {
  return source_prefixes.length > 0 ? source_prefixes : [`bronze/${platform_id}`];
}

/**
 * Handlers that work on the whole catalogue, on whole containers, on layers by their table, on reviews or
 * on the external zone, across all platforms: a platform that could start them could change or read another
 * platform's data. The
 * orchestrator and operators run these workflows, and jobs of stages; the view `gateway.workflows` has
 * the same rule.
 */
const maintenance =
  /^(?:export\.|stac\.|h3_(?!(?:discover_raster|zonal_stats|finalize|register_dataset)$)|fathom_)/;
const forOperators: ReadonlySet<string> = new Set([
  "stac_catalog_container",
  "register_silver_blobs",
  "trigger_approval",
  "approve_dataset",
  "reject_dataset",
  "job_health_check",
  "task_watchdog",
  "inspect_file",
  "list_container_files",
  "process_file",
  "update_catalog",
  "stats_zonal",
]);

export function isForPlatforms({
  nodes,
  stages,
}: Pick<WorkflowDefinition, "nodes" | "stages">): boolean {
  if (stages !== undefined) return false;
  return !handlersOf({ nodes }).some(
    (handler) => maintenance.test(handler) || forOperators.has(handler),
  );
}

export function handlersOf({ nodes }: Pick<WorkflowDefinition, "nodes">): string[] {
  return Object.values(nodes).flatMap((node) => taskOf(node)?.handler ?? []);
}

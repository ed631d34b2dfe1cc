/** Handlers vector_simplify and vector_dissolve: make a new vector file from a layer. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { readOgrinfo } from "../../../core/vector/read-ogrinfo.ts";
import { endingOf } from "../../../core/vector/source-format.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { fetchSource, layerIn } from "./fetch-source.ts";
import { openOptions, runOptions } from "./gdal-options.ts";
import { inspectLayer } from "./inspect-source.ts";
import { sqlOf, withSql } from "./with-sql.ts";
import type { OpenedLayer } from "./with-sql.ts";

export const simplifyVector = defineHandler("vector_simplify", async (params, context) => {
  const target = chooseTarget(params, params.blob_path, "simplified", context);
  const opened = await openLayer(params, context);
  const tolerance = String(params.tolerance);
  if (params.preserve_topology) {
    const args = [...opened.openArgs, opened.layer.name, "-nlt", "PROMOTE_TO_MULTI"];
    return writeVector({ ...opened, args: [...args, "-simplify", tolerance] }, target, context);
  }
  const { answer } = await withSql(opened, context, (each) => {
    const { geometry, dialect } = sqlOf(each);
    const simplified = `ST_Simplify(${quote(geometry)}, ${tolerance}) AS geometry`;
    const selected = [simplified, ...each.layer.fields.map(quote)].join(", ");
    const sql = `SELECT ${selected} FROM ${quote(each.layer.name)}`;
    const args = [...each.openArgs, "-dialect", dialect, "-sql", sql, "-nln", "layer"];
    return writeVector({ ...each, args }, target, context);
  });
  return answer;
});

export const dissolveVector = defineHandler("vector_dissolve", async (params, context) => {
  const target = chooseTarget(params, params.blob_path, "dissolved", context);
  const opened = await openLayer(params, context);
  const { fields } = opened.layer;
  const by = params.by === undefined ? [] : [params.by].flat();
  for (const name of by) {
    if (fields.includes(name)) continue;
    const known = fields.join(", ");
    throw new PermanentError(`The layer has no column "${name}"; it has: ${known}.`, {
      code: "COLUMN_NOT_FOUND",
    });
  }
  const columns = by.map(quote);
  const grouped = columns.length === 0 ? "" : ` GROUP BY ${columns.join(", ")}`;
  const { answer } = await withSql(opened, context, (each) => {
    const { geometry, dialect } = sqlOf(each);
    const selected = [`ST_Union(${quote(geometry)}) AS geometry`, ...columns].join(", ");
    const sql = `SELECT ${selected} FROM ${quote(each.layer.name)}${grouped}`;
    const args = [...each.openArgs, "-dialect", dialect, "-sql", sql, "-nln", "layer"];
    return writeVector({ ...each, args: [...args, "-nlt", "PROMOTE_TO_MULTI"] }, target, context);
  });
  return answer;
});

/** Fetches a file and chooses its layer, from which GDAL then makes another file. */
async function openLayer(
  given: {
    readonly blob_path: string;
    readonly container?: string | undefined;
    readonly layer?: string | null | undefined;
  },
  context: HandlerContext,
): Promise<OpenedLayer> {
  const source = await fetchSource(given, context);
  const options = await openOptions(source, {});
  const layer = await inspectLayer(source, options, layerIn(source, given.layer), context);
  return { file: source.file, drivers: source.drivers, openArgs: options.args, layer };
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const writable: ReadonlyMap<string, string> = new Map([
  [".gpkg", "GPKG"],
  [".geojson", "GeoJSON"],
  [".fgb", "FlatGeobuf"],
]);

interface Target {
  readonly blob_path: string;
  readonly container: string;
}

/** The output's path: as the parameters say, or in a folder of this job in the silver zone. */
function chooseTarget(
  params: {
    readonly output_path?: string | undefined;
    readonly output_container?: string | undefined;
  },
  source: string,
  suffix: string,
  context: HandlerContext,
): Target {
  const name = path.posix.basename(source).replace(/\.[^.]*$/, "");
  const given = params.output_path ?? `vector/${context.job_id}/${name}_${suffix}.gpkg`;
  const [zone, ...rest] = given.split("/");
  const named = ["bronze", "silver", "gold"].includes(zone ?? "") && rest.length > 0;
  const container = params.output_container ?? (named ? (zone ?? "silver") : "silver");
  const blob_path = named && zone === container ? rest.join("/") : given;
  if (writable.has(endingOf(blob_path))) return { blob_path, container };
  throw new PermanentError(`output_path must end in one of ${[...writable.keys()].join(", ")}.`, {
    code: "UNSUPPORTED_FORMAT",
  });
}

/** Writes a file with one run of GDAL, counts its features, and puts it into storage. */
async function writeVector(
  {
    file,
    drivers,
    args,
  }: Pick<OpenedLayer, "file" | "drivers"> & { readonly args: readonly string[] },
  { blob_path, container }: Target,
  context: HandlerContext,
) {
  const ending = endingOf(blob_path);
  const output = path.join(context.workDir, `output${ending}`);
  const driver = writable.get(ending) ?? "GPKG";
  const options = runOptions(context, [...drivers, driver]);
  await context.gdal.run("ogr2ogr", ["-f", driver, output, file, ...args], options);
  const described = runOptions(context, [driver]);
  const { stdout } = await context.gdal.run("ogrinfo", ["-ro", "-so", "-al", output], described);
  await context.storage.putFile(`${container}/${blob_path}`, output, { signal: context.signal });
  const { size } = await stat(output);
  return {
    blob_path,
    container,
    file_size_mb: Math.round((size / 1024 / 1024) * 1e6) / 1e6,
    feature_count: readOgrinfo(stdout)[0]?.featureCount ?? 0,
  };
}

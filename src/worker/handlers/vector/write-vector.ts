/** A derived vector file: made by one run of GDAL, counted, and put into storage. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { readOgrinfo } from "../../../core/vector/read-ogrinfo.ts";
import { endingOf } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runOptions } from "./gdal-environment.ts";
import { refuse } from "./refuse.ts";

const writable: ReadonlyMap<string, string> = new Map([
  [".gpkg", "GPKG"],
  [".geojson", "GeoJSON"],
  [".fgb", "FlatGeobuf"],
]);

export interface Target {
  readonly blob_path: string;
  readonly container: string;
}

/** Where it goes: as asked, or beside nothing else in the processed zone. */
export function chooseTarget(
  asked: {
    readonly output_path?: string | undefined;
    readonly output_container?: string | undefined;
  },
  source: string,
  suffix: string,
  context: HandlerContext,
): Target {
  const name = path.posix.basename(source).replace(/\.[^.]*$/, "");
  const given = asked.output_path ?? `vector/${context.job_id}/${name}_${suffix}.gpkg`;
  const [zone, ...rest] = given.split("/");
  const named = ["bronze", "silver", "gold"].includes(zone ?? "") && rest.length > 0;
  const container = asked.output_container ?? (named ? (zone ?? "silver") : "silver");
  const blob_path = named && zone === container ? rest.join("/") : given;
  if (writable.has(endingOf(blob_path))) return { blob_path, container };
  throw refuse(
    "UNSUPPORTED_FORMAT",
    `output_path must end in one of ${[...writable.keys()].join(", ")}.`,
  );
}

export async function writeVector(
  { file, args }: { readonly file: string; readonly args: readonly string[] },
  { blob_path, container }: Target,
  context: HandlerContext,
) {
  const ending = endingOf(blob_path);
  const output = path.join(context.workDir, `output${ending}`);
  const driver = writable.get(ending) ?? "GPKG";
  const options = runOptions(context);
  await context.gdal.run("ogr2ogr", ["-f", driver, output, file, ...args], options);
  const { stdout } = await context.gdal.run("ogrinfo", ["-ro", "-so", "-al", output], options);
  await context.storage.putFile(`${container}/${blob_path}`, output, { signal: context.signal });
  const { size } = await stat(output);
  return {
    blob_path,
    container,
    file_size_mb: Math.round((size / 1024 / 1024) * 1e6) / 1e6,
    feature_count: readOgrinfo(stdout)[0]?.featureCount ?? 0,
  };
}

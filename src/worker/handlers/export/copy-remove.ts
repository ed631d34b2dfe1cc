/**
 * Handlers export.copy_external and export.remove_external: a version's package in the external
 * zone, which the public reads. Azure Data Factory writes there where it is configured, because the
 * worker may have no right to; otherwise the worker copies and deletes.
 */
import path from "node:path";
import { DataFactoryError } from "../../../adapters/azure/data-factory.ts";
import type { DataFactory } from "../../../adapters/azure/data-factory.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { objectsBelow } from "../stac/list-items-rasters.ts";
import { linkInRoot } from "./change-root.ts";
import { copyChecked } from "./copy-file.ts";
import { folderOfRevision, folderOfVersion, manifestName } from "./places.ts";

export const copyExternal = defineHandler("export.copy_external", async (params, context) => {
  const base = folderOfRevision(params);
  const factory = context.dataFactory;
  const sources = await sourcesOf(context, params);
  const main =
    params.blob_path === undefined
      ? (params.main_file ?? manifestName)
      : path.posix.basename(params.blob_path);
  const bytes = sources.reduce((sum, source) => sum + source.bytes, 0);
  const external_blob_path = `external/${base}/${main}`;
  if (factory !== undefined) {
    const [first] = sources;
    const source = params.folder ?? path.posix.dirname(first?.path ?? "");
    const [container = "", ...folders] = source.split("/");
    const adf_run_id = await runPipeline(context, factory, factory.settings.pipeline, {
      source_container: container,
      source_folder: folders.join("/"),
      source_file: params.blob_path === undefined ? "*" : main,
      target_container: "external",
      target_folder: base,
    });
    return { external_blob_path, adf_run_id, copied_by: "data_factory" as const, bytes };
  }
  for (const [index, source] of sources.entries()) {
    await copyChecked(context, source.path, `external/${base}/${source.name}`);
    context.progress((95 * (index + 1)) / sources.length);
  }
  if (sources.some(({ name }) => name === "collection.json")) {
    await linkInRoot(context, "external", folderOfVersion(params), {
      href: `./${base}/collection.json`,
      title: `${params.asset_id}-v${params.version_ordinal}`,
    });
  }
  await removeEarlier(context, params);
  context.logger.info("copied to the external zone", { bytes, files: sources.length });
  return { external_blob_path, adf_run_id: null, copied_by: "worker" as const, bytes };
});

interface Source {
  readonly path: string;
  /** Relative to the folder of the revision. */
  readonly name: string;
  readonly bytes: number;
}

async function sourcesOf(
  context: HandlerContext,
  params: { readonly folder?: string | undefined; readonly blob_path?: string | undefined },
): Promise<readonly Source[]> {
  const { folder, blob_path } = params;
  const found: Source[] = [];
  if (folder !== undefined) {
    for await (const page of objectsBelow(context, `${folder}/`)) {
      for (const each of page) {
        found.push({ ...each, name: each.path.slice(folder.length + 1) });
      }
    }
  } else if (blob_path !== undefined) {
    const one = await context.storage.head(blob_path);
    if (one !== undefined) found.push({ ...one, name: path.posix.basename(blob_path) });
  }
  if (found.length > 0) return found;
  throw new PermanentError(`There is nothing at ${folder ?? blob_path ?? ""} to export.`, {
    code: "BLOB_NOT_FOUND",
  });
}

/** A new attempt of the task awaits the run that an earlier attempt started. */
async function runPipeline(
  context: HandlerContext,
  factory: DataFactory,
  pipeline: string,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const saved = await context.checkpoint.load();
  const earlier = saved?.phase === "run" ? saved.data["run_id"] : undefined;
  const runId =
    typeof earlier === "string"
      ? earlier
      : await factory.createRun(pipeline, parameters, context.signal);
  if (earlier === undefined) await context.checkpoint.save("run", { run_id: runId });
  context.logger.info("Azure Data Factory runs", { run_id: runId, pipeline });
  try {
    await factory.awaitRun(runId, context.signal);
  } catch (error) {
    // A retry starts another run: this one has ended for ever.
    const hasEnded = error instanceof DataFactoryError && error.code === "ADF_RUN_FAILED";
    if (hasEnded) await context.checkpoint.save("run_failed", { run_id: runId });
    throw error;
  }
  return runId;
}

/** The revision before this one stays, because clients may be reading it. */
async function removeEarlier(
  context: HandlerContext,
  params: {
    readonly asset_id: string;
    readonly version_ordinal: number;
    readonly revision: number;
  },
): Promise<void> {
  for (const zone of ["gold", "external"]) {
    await removeBelow(context, `${zone}/${folderOfVersion(params)}/`, (name) => {
      const revision = Number(/^(?:downloads\/)?r(\d+)\//.exec(name)?.[1]);
      return revision < params.revision - 1;
    });
  }
}

async function removeBelow(
  context: HandlerContext,
  prefix: string,
  which: (name: string) => boolean,
): Promise<number> {
  const paths: string[] = [];
  for await (const page of objectsBelow(context, prefix)) {
    paths.push(...page.map((each) => each.path).filter((each) => which(each.slice(prefix.length))));
  }
  let removed = 0;
  for (const each of paths) if (await context.storage.delete(each)) removed++;
  return removed;
}

/** Missing files are no failure, so a repeated task succeeds. */
export const removeExternal = defineHandler("export.remove_external", async (params, context) => {
  const { external_blob_path, asset_id, version_ordinal } = params;
  if (asset_id === undefined || version_ordinal === undefined) {
    if (external_blob_path?.startsWith("external/") !== true) {
      throw new PermanentError(`${external_blob_path ?? ""} is not in the external zone.`, {
        code: "NOT_EXTERNAL",
      });
    }
    const isRemoved = await context.storage.delete(external_blob_path);
    return { removed: isRemoved ? 1 : 0, adf_run_id: null };
  }
  const folder = folderOfVersion({ asset_id, version_ordinal });
  const factory = context.dataFactory;
  const pipeline = factory?.settings.withdrawPipeline;
  let adf_run_id: string | null = null;
  let removed = 0;
  if (factory !== undefined && pipeline !== undefined) {
    adf_run_id = await runPipeline(context, factory, pipeline, {
      target_container: "external",
      target_folder: folder,
    });
  } else {
    // First the link, so that a reader of the catalogue finds no link without its files.
    await linkInRoot(context, "external", folder, undefined);
    removed += await removeBelow(context, `external/${folder}/`, () => true);
  }
  await linkInRoot(context, "gold", folder, undefined);
  removed += await removeBelow(context, `gold/${folder}/`, () => true);
  return { removed, adf_run_id };
});

import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { findAsset, readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import { findJob } from "../../adapters/postgres/queries/jobs.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { layerFileContracts } from "../../core/api/layer-files.ts";
import { Problem } from "../../core/errors.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { baseOf } from "../../adapters/http/base-url.ts";
import type { Verbs } from "../jobs/verbs.ts";
import { assetMissing, versionOf } from "./change-asset.ts";

export interface LayerFileRouteDeps {
  readonly db: Database;
  readonly storage: Storage;
  readonly verbs: Verbs;
}

const workflow_id = "export_layer";

/** Files of a version in a format of choice, which a job of the workflow export_layer writes. */
export function layerFileRoutes({
  db,
  storage,
  verbs,
}: LayerFileRouteDeps): Handlers<typeof layerFileContracts> {
  return {
    writeFiles: async ({ params, body: { format, max_zoom }, caller, traceParent }) => {
      const { asset_id, version_ordinal } = params;
      if ((await findAsset(db, asset_id)) === undefined) throw assetMissing(asset_id);
      const version = versionOf(await readVersions(db, asset_id), version_ordinal);
      const { served_revision: revision, table_name, blob_path } = version;
      if (revision === null || version.deleted_at !== null) {
        const why = revision === null ? "it has no data yet" : "it was deleted";
        throw new Problem(
          "TRANSITION_REFUSED",
          `Version ${version_ordinal} cannot be written: ${why}.`,
        );
      }
      const { job_id, status } = await verbs.submit({
        workflow_id,
        inputs: {
          asset_id,
          version_ordinal,
          revision,
          format,
          ...(max_zoom === undefined ? {} : { max_zoom }),
          ...(table_name === null ? {} : { table_name }),
          ...(blob_path === null ? {} : { blob_path }),
        },
        submitted_by: caller?.name.slice(0, 64),
        trace_parent: traceParent,
      });
      return { job_id, status };
    },

    getFiles: async (request) => {
      const { asset_id, version_ordinal, job_id } = request.params;
      const job = await findJob(db, job_id);
      const inputs = job?.input_params;
      const isOfVersion =
        job?.workflow_id === workflow_id &&
        inputs?.["asset_id"] === asset_id &&
        inputs["version_ordinal"] === version_ordinal;
      if (job === undefined || !isOfVersion) {
        throw new Problem("JOB_NOT_FOUND", `No job ${job_id} writes files of this version.`);
      }
      const result = isJsonObject(job.result_data) ? job.result_data : {};
      const paths = Array.isArray(result["paths"]) ? result["paths"] : [];
      const files = [];
      for (const path of paths) {
        const stored = typeof path === "string" ? await storage.head(path) : undefined;
        if (stored === undefined) continue;
        const signed = await storage.signedUrl(stored.path);
        const url = signed.startsWith("/") ? `${baseOf(request)}${signed}` : signed;
        files.push({ path: stored.path, bytes: stored.bytes, url });
      }
      return { status: job.status, error: job.error?.message ?? null, files };
    },
  };
}

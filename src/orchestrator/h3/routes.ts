import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { findKindOfH3Name, listH3Runs } from "../../adapters/postgres/queries/h3.ts";
import {
  saveH3CombinedSource,
  saveH3Source,
  saveH3VectorSource,
} from "../../adapters/postgres/repositories/h3.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { h3Contracts } from "../../core/api/h3.ts";
import { Problem } from "../../core/errors.ts";
import { h3Combination, h3CombinedSource } from "../../core/h3/combination.ts";
import { h3Configuration, h3Source } from "../../core/h3/configuration.ts";
import { h3VectorConfiguration, h3VectorSource } from "../../core/h3/vector-configuration.ts";
import { firstIssueText } from "../../core/model/issue-text.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { answerDataset } from "./answer-dataset.ts";
import { listSources } from "./list-sources.ts";

export interface H3RouteDeps {
  readonly db: Database;
  readonly storage: Storage;
}

export function h3Routes({ db, storage }: H3RouteDeps): Handlers<typeof h3Contracts> {
  return {
    listH3Sources: ({ query }) => listSources(db, storage, query),

    putH3Source: async ({ params: { raster }, body: { kind, source, configuration } }) => {
      const known = await findKindOfH3Name(db, raster);
      if (known !== undefined && known !== kind) {
        throw new Problem("BAD_REQUEST", `"${raster}" is a data set of the kind ${known} already.`);
      }
      const parsed = configurations[kind].safeParse(configuration);
      if (!parsed.success) {
        const text = firstIssueText(parsed.error);
        throw new Problem("BAD_REQUEST", `The configuration is not valid: ${text}`);
      }
      const ofRaster = h3Source.safeParse(source);
      const ofVector = h3VectorSource.safeParse(source);
      const combined = h3CombinedSource.safeParse(source);
      if (kind === "raster" && ofRaster.success) {
        await saveH3Source(db, raster, ofRaster.data, configuration);
      } else if (kind === "vector" && ofVector.success) {
        await saveH3VectorSource(db, raster, ofVector.data, configuration);
      } else if (kind === "combined" && combined.success) {
        await saveH3CombinedSource(db, raster, combined.data, configuration);
      } else throw new Problem("BAD_REQUEST", `This is no source of the kind ${kind}.`);
      return { raster };
    },

    listH3Runs: async ({ query }) => ({
      items: (await listH3Runs(db, query)).map((run) => ({
        run_id: run.run_id,
        kind: run.kind,
        raster: run.raster,
        period: run.period,
        origin: run.origin,
        configuration: run.configuration as unknown as JsonObject,
        findings: [...run.findings],
        chunk_count: run.chunk_count,
        job_id: run.job_id,
        status: run.status,
        row_count: run.row_count,
        collection_id: run.collection_id,
        item_id: run.item_id,
        started_at: run.started_at.toISOString(),
        finished_at: run.finished_at?.toISOString() ?? null,
      })),
      next_cursor: null,
    }),

    getH3Dataset: (request) => answerDataset({ db, storage }, request),
  };
}

const configurations = {
  raster: h3Configuration,
  vector: h3VectorConfiguration,
  combined: h3Combination,
} as const;

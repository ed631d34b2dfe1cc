import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  findKindOfH3Name,
  findServedH3Run,
  listH3Runs,
  listH3Sources,
} from "../../adapters/postgres/queries/h3.ts";
import type { H3SourceState } from "../../adapters/postgres/queries/h3.ts";
import { findGeoTable } from "../../adapters/postgres/queries/geo-tables.ts";
import {
  saveH3CombinedSource,
  saveH3Source,
  saveH3VectorSource,
} from "../../adapters/postgres/repositories/h3.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { h3Contracts } from "../../core/api/h3.ts";
import { Problem } from "../../core/errors.ts";
import {
  combinationTag,
  datasetsOf,
  h3Combination,
  h3CombinedSource,
} from "../../core/h3/combination.ts";
import { h3Configuration, h3Source } from "../../core/h3/configuration.ts";
import { h3VectorConfiguration, h3VectorSource } from "../../core/h3/vector-configuration.ts";
import { firstIssueText } from "../../core/model/issue-text.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { answerDataset } from "./answer-dataset.ts";

export interface H3RouteDeps {
  readonly db: Database;
  readonly storage: Storage;
}

export function h3Routes({ db, storage }: H3RouteDeps): Handlers<typeof h3Contracts> {
  return {
    listH3Sources: async ({ query: { limit, state: wanted } }) => {
      const items = [];
      for (const row of await listH3Sources(db, limit)) {
        const state = await stateOf(db, storage, row);
        if (wanted !== undefined && wanted !== state) continue;
        items.push({
          kind: row.kind,
          raster: row.raster,
          source: row.source as JsonObject,
          configuration: row.configuration as JsonObject,
          state,
          run_id: row.run_id,
          finished_at: row.finished_at?.toISOString() ?? null,
          updated_at: row.updated_at.toISOString(),
        });
      }
      return { items, next_cursor: null };
    },

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

/** Compares the source's file with its state at the last computation. */
async function stateOf(
  db: Database,
  storage: Storage,
  { kind, source, run_id, origin, source_tag }: H3SourceState,
): Promise<"never" | "current" | "stale" | "unknown"> {
  if (run_id === null || origin === null) return "never";
  if (kind === "combined") {
    const inputs = [];
    for (const { alias, dataset, period } of datasetsOf(h3CombinedSource.parse(source))) {
      const run = await findServedH3Run(db, dataset, period);
      if (run === undefined) return "unknown";
      inputs.push({ alias, run_id: run.run_id });
    }
    return combinationTag(inputs) === source_tag ? "current" : "stale";
  }
  const table = /^table:(\w+)$/.exec(origin)?.[1];
  if (table !== undefined) {
    const found = await findGeoTable(db, table);
    if (found === undefined) return "unknown";
    return `${origin} ${found.load_id}` === source_tag ? "current" : "stale";
  }
  if (!/^[a-z]+\//.test(origin)) return "unknown";
  const head = await storage.head(origin).catch(() => undefined);
  if (head === undefined) return "unknown";
  return `${origin} ${head.bytes} ${head.etag}` === source_tag ? "current" : "stale";
}

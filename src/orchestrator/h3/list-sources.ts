import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { H3SourcePlace, H3SourceState } from "../../adapters/postgres/queries/h3.ts";
import { listH3Sources } from "../../adapters/postgres/queries/h3.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { createDatasetStates } from "./dataset-state.ts";

const placeInList = z.tuple([z.literal([0, 1]), z.string()]);

interface SourcesQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly state?: "never" | "current" | "stale" | "unknown" | undefined;
  readonly raster?: string | undefined;
}

/**
 * A page of data sets with their states. Only the database knows which were computed, and only storage whether
 * a source has changed: rows are read until enough of them are in the wanted state.
 */
export async function listSources(
  db: Queryable,
  storage: Storage,
  { limit, cursor, state: wanted, raster }: SourcesQuery,
) {
  const isComputed = wanted === undefined ? undefined : wanted !== "never";
  const stateOf = createDatasetStates(db, storage);
  const items = [];
  const place = decodeCursor(cursor, placeInList);
  let after: H3SourcePlace | undefined = place && { is_computed: place[0] === 1, raster: place[1] };
  for (;;) {
    // One more than the page holds: whether there is a next page.
    const rows = await listH3Sources(db, { limit: limit + 1, after, isComputed, raster });
    for (const row of rows) {
      const { kind, run_id, origin, source_tag } = row;
      const state =
        run_id === null || origin === null || source_tag === null
          ? ("never" as const)
          : await stateOf({ kind, raster: row.raster, run_id, origin, source_tag });
      if (wanted === undefined || wanted === state) {
        if (items.length === limit) {
          const next_cursor = after && encodeCursor([after.is_computed ? 1 : 0, after.raster]);
          return { items, next_cursor: next_cursor ?? null };
        }
        items.push(describe(row, state));
      }
      after = { is_computed: run_id !== null, raster: row.raster };
    }
    if (rows.length <= limit) return { items, next_cursor: null };
  }
}

function describe(row: H3SourceState, state: NonNullable<SourcesQuery["state"]>) {
  return {
    kind: row.kind,
    raster: row.raster,
    source: row.source as JsonObject,
    configuration: row.configuration as JsonObject,
    state,
    run_id: row.run_id,
    finished_at: row.finished_at?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
  };
}

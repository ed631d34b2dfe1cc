import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { listUnreferenced } from "../../adapters/postgres/queries/blob-assets.ts";
import type { LineageThing } from "../../adapters/postgres/queries/lineage.ts";
import { listPromoted, versionsOf } from "../../adapters/postgres/queries/lineage.ts";
import type { lineageContracts } from "../../core/api/lineage.ts";
import { Problem } from "../../core/errors.ts";
import { trace } from "./trace.ts";

export interface LineageRouteDeps {
  readonly db: Database;
}

const pathPlace = z.tuple([z.string().max(1200)]);

export function lineageRoutes({ db }: LineageRouteDeps): Handlers<typeof lineageContracts> {
  return {
    getLineage: async ({ query: { direction, depth, asset, ...named } }) => {
      const { path, table, item, version, job } = named;
      const things: LineageThing[] = [
        ...(path === undefined ? [] : [{ kind: "file" as const, id: path }]),
        ...(table === undefined ? [] : [{ kind: "table" as const, id: table }]),
        ...(item === undefined ? [] : [{ kind: "item" as const, id: item }]),
        ...(version === undefined ? [] : [{ kind: "version" as const, id: version }]),
        ...(job === undefined ? [] : [{ kind: "job" as const, id: job }]),
      ];
      if (things.length + (asset === undefined ? 0 : 1) !== 1) {
        const detail = "Name one of path, table, item, asset, version and job.";
        throw new Problem("BAD_REQUEST", detail);
      }
      const from = asset === undefined ? things : await versionsOf(db, asset);
      const { nodes, edges, truncated } = await trace(db, from, { direction, depth });
      return { nodes: [...nodes], edges: [...edges], truncated };
    },

    listUnreferencedFiles: async ({ query: { zone, limit, cursor } }) => {
      const after = decodeCursor(cursor, pathPlace)?.[0];
      const found = await listUnreferenced(db, { zone, after, limit: limit + 1 });
      const items = found
        .slice(0, limit)
        .map((file) => ({ ...file, seen_at: file.seen_at.toISOString() }));
      const last = items.at(-1);
      const more = found.length > limit && last !== undefined;
      return { items, next_cursor: more ? encodeCursor([last.path]) : null };
    },

    listPromoted: async ({ query: { limit } }) => ({
      items: (await listPromoted(db, limit)).map((row) => ({
        ...row,
        updated_at: row.updated_at.toISOString(),
      })),
      next_cursor: null,
    }),
  };
}

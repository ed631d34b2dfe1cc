import type { Queryable } from "../queryable.ts";
import { readMigrations } from "../migration-files.ts";
import { canLiveWith } from "../schema-version.ts";
import { iso } from "./conditions.ts";

let kept: ReturnType<typeof readMigrations> | undefined;

/**
 * Reads the files once: those of a running program do not change, and probes ask for the schema several
 * times a second. A failure is not kept.
 */
function programMigrations(): ReturnType<typeof readMigrations> {
  kept ??= readMigrations().catch((error: unknown) => {
    kept = undefined;
    throw error;
  });
  return kept;
}

export interface SchemaStatus {
  readonly database: string;
  readonly server_version: string;
  readonly version: number;
  readonly needed: number;
  /** This program can live with the schema. */
  readonly current: boolean;
  readonly applied: { version: number; name: string; applied_at: string }[];
  readonly pending: string[];
}

/** Also works on a database that has no schema of ours yet. */
export async function readSchemaStatus(db: Queryable): Promise<SchemaStatus> {
  const files = await programMigrations();
  const { rows: server } = await db.query<{
    database: string;
    server_version: string;
    has_ledger: boolean;
  }>(
    `SELECT current_database() AS database, current_setting('server_version') AS server_version,
            to_regclass('dagapp.schema_migrations') IS NOT NULL AS has_ledger`,
  );
  const facts = server[0];
  if (facts === undefined) throw new Error("The server answered without a row.");
  const { has_ledger, ...named } = facts;
  const applied = has_ledger ? await readLedger(db) : [];
  const version = applied.at(-1)?.version ?? 0;
  return {
    ...named,
    version,
    needed: files.length,
    current: version >= files.length && canLiveWith(applied, files.length),
    applied: applied.map(({ oldest_program: _, ...migration }) => migration),
    pending: files.filter((file) => file.version > version).map((file) => file.name),
  };
}

async function readLedger(db: Queryable) {
  const { rows } = await db.query<{
    version: number;
    name: string;
    applied_at: Date;
    oldest_program: number | null;
  }>(
    `SELECT version, name, applied_at,
       (to_jsonb(ledger) ->> 'oldest_program')::integer AS oldest_program
     FROM dagapp.schema_migrations AS ledger ORDER BY version`,
  );
  return rows.map((row) => ({ ...row, applied_at: iso(row.applied_at) }));
}

export interface TableSize {
  readonly table: string;
  readonly rows_estimate: number;
  readonly bytes: number;
}

export async function listTables(db: Queryable): Promise<TableSize[]> {
  const { rows } = await db.query<TableSize>(
    `SELECT relname AS table, greatest(n_live_tup, 0) AS rows_estimate,
            pg_total_relation_size(relid) AS bytes
     FROM pg_stat_user_tables WHERE schemaname = 'dagapp' ORDER BY relname`,
  );
  return rows;
}

/** Checks that the database answers. */
export async function ping(db: Queryable): Promise<void> {
  await db.query("SELECT 1");
}

import type { Queryable } from "../queryable.ts";

export interface GatewaySchema {
  /** Null: the views of the gateway do not exist. */
  readonly version: number | null;
  /** The oldest program that can live with it. */
  readonly oldestProgram: number;
}

export async function readGatewaySchema(db: Queryable): Promise<GatewaySchema> {
  const { rows } = await db.query<{ is_there: boolean }>(
    `SELECT to_regclass('gateway.schema_version') IS NOT NULL AS is_there`,
  );
  if (rows[0]?.is_there !== true) return { version: null, oldestProgram: 0 };
  const found = await db.query<{ version: number; oldest_program: number | null }>(
    // As JSON: the view of an older schema lacks the column.
    `SELECT version, (to_jsonb(v) ->> 'oldest_program')::integer AS oldest_program
     FROM gateway.schema_version AS v`,
  );
  const { version = null, oldest_program = null } = found.rows[0] ?? {};
  return { version, oldestProgram: oldest_program ?? version ?? 0 };
}

/** Lists the write privileges of this user in words; empty for a user that can only read. */
export async function readWriteRights(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ right: string }>(
    `SELECT 'is a superuser' AS "right" FROM pg_roles WHERE rolname = current_user AND rolsuper
     UNION ALL
     SELECT 'may create schemas' WHERE has_database_privilege(current_database(), 'CREATE')
     UNION ALL
     SELECT format('may change %I.%I', nspname, relname)
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname IN ('dagapp', 'gateway', 'geo') AND relkind IN ('r', 'p', 'v', 'm')
       AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
     LIMIT 5`,
  );
  return rows.map(({ right }) => right);
}

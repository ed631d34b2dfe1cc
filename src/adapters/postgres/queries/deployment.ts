/** What `rmhdag doctor` reads of the database. Every user may read these catalogues. */
import type { GatewayLogin, ProgramFacts } from "../../../core/doctor/judge-database.ts";
import type { Queryable } from "../queryable.ts";

export interface ConnectionFacts {
  readonly version_number: number;
  readonly version_text: string;
  readonly postgis: string | null;
  readonly is_encrypted: boolean;
  readonly used: number;
  readonly most: number;
}

export async function readConnection(db: Queryable): Promise<ConnectionFacts> {
  const { rows } = await db.query<ConnectionFacts>(
    `SELECT current_setting('server_version_num')::integer AS version_number,
       current_setting('server_version') AS version_text,
       (SELECT extversion FROM pg_extension WHERE extname = 'postgis') AS postgis,
       coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted,
       (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       current_setting('max_connections')::integer
         - current_setting('superuser_reserved_connections')::integer AS most`,
  );
  const facts = rows[0];
  if (facts === undefined) throw new Error("The database answered without a row.");
  return facts;
}

/** The users of the programs' connections. Orchestrators and workers name themselves in theirs. */
export async function readPrograms(db: Queryable): Promise<ProgramFacts[]> {
  const { rows } = await db.query<ProgramFacts>(
    `WITH names AS (
       SELECT 'orchestrator' AS program, owner_id AS name FROM dagapp.dag_orchestrators
       UNION ALL SELECT 'worker', worker_id FROM dagapp.dag_workers
       UNION ALL SELECT 'gateway', 'rmhdag gateway'
     )
     SELECT DISTINCT program, rolname AS user, rolsuper AS "isSuperuser",
       rolcreaterole AS "mayCreateRoles"
     FROM pg_stat_activity a
       JOIN names ON application_name = name OR starts_with(application_name, name || ' ')
       JOIN pg_roles r ON r.oid = a.usesysid
     WHERE datname = current_database() ORDER BY 1, 2`,
  );
  return rows;
}

export async function readGatewayLogins(db: Queryable): Promise<GatewayLogin[]> {
  const { rows } = await db.query<GatewayLogin>(
    `SELECT r.rolname AS user, r.rolconnlimit AS connections,
       format('ALTER ROLE %I CONNECTION LIMIT 40', r.rolname) AS "limitConnections",
       format('ALTER ROLE %I SET statement_timeout = %L', r.rolname, '30s') AS "limitTime",
       (SELECT split_part(setting, '=', 2) FROM pg_db_role_setting s, unnest(setconfig) AS setting
        WHERE setrole = r.oid AND setting LIKE 'statement\\_timeout=%'
          AND (setdatabase = 0 OR setdatabase = current.oid)
        ORDER BY setdatabase DESC LIMIT 1) AS "statementTimeout",
       ARRAY (SELECT datname::text FROM pg_database d WHERE datallowconn AND d.oid <> current.oid
         AND has_database_privilege(r.oid, d.oid, 'CONNECT') ORDER BY 1) AS "otherDatabases"
     FROM pg_roles r, pg_database current
     WHERE current.datname = current_database() AND rolcanlogin AND NOT rolsuper
       -- A login of another site on this server is judged there.
       AND has_database_privilege(r.oid, current.oid, 'CONNECT')
       AND EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
         WHERE m.member = r.oid AND g.rolname = 'rmhdag_gateway')
     ORDER BY 1`,
  );
  return rows;
}

/** Tables whose VACUUM the server would skip for the user of this connection. */
export async function readNotVacuumed(db: Queryable, tables: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'dagapp'::regnamespace
       AND relname = ANY ($1) AND NOT pg_has_role(relowner, 'USAGE') ORDER BY 1`,
    [tables],
  );
  return rows.map(({ name }) => name);
}

/** Milliseconds by which a clock is ahead of the database's, half of the round trip taken off. */
export async function readClockOffset(db: Queryable, clock: { now(): Date }): Promise<number> {
  const before = clock.now().getTime();
  const { rows } = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  const after = clock.now().getTime();
  return (before + after) / 2 - (rows[0]?.now.getTime() ?? before);
}

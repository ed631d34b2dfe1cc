import pg from "pg";
import { hasErrorCode } from "../../runtime/error-code.ts";
import type { ProgramRole } from "./rights.ts";
import { gatewayRole, rolesLock, workerRole } from "./rights.ts";

export interface Login {
  readonly role: ProgramRole;
  readonly user: string;
  readonly password: string;
}

const forbidden = "42501";

/**
 * Makes users of the database, each a member of one group, or sets their passwords. Answers false when
 * a group is missing or this connection may not make users; then no user was made.
 */
export async function makeLogins(url: string, logins: readonly Login[]): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: "rmhdag logins" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ rolname: string }>(
      "SELECT rolname FROM pg_roles WHERE rolname = ANY ($1)",
      [logins.flatMap(({ role, user }) => [role, user])],
    );
    const existing = new Set(rows.map(({ rolname }) => rolname));
    if (!logins.every(({ role }) => existing.has(role))) return false;
    const found = await client.query<{ name: string }>("SELECT current_database() AS name");
    const database = pg.escapeIdentifier(found.rows[0]?.name ?? "");
    await client.query("BEGIN");
    // PostgreSQL fails one of two sessions that change the rights on a database at once.
    await client.query("SELECT pg_advisory_xact_lock($1)", [rolesLock]);
    for (const login of logins) {
      for (const text of loginSql(login, database, existing.has(login.user))) {
        await client.query(text);
      }
    }
    await client.query("COMMIT");
    return true;
  } catch (error) {
    // The connection ends, and with it the transaction.
    if (hasErrorCode(error, forbidden)) return false;
    throw error;
  } finally {
    await client.end();
  }
}

/** The gateway's pool has 8 connections; a second gateway may start before the first has ended. */
const gatewayConnections = 20;

function loginSql({ role, user, password }: Login, database: string, exists: boolean): string[] {
  // CREATE ROLE and GRANT take no parameters, so the driver's quoting is used.
  const name = pg.escapeIdentifier(user);
  const limit = role === gatewayRole ? gatewayConnections : -1;
  return [
    `${exists ? "ALTER" : "CREATE"} ROLE ${name} LOGIN PASSWORD ${pg.escapeLiteral(password)}
       CONNECTION LIMIT ${limit}`,
    `GRANT ${role} TO ${name}`,
    `GRANT CONNECT ON DATABASE ${database} TO ${name}`,
    ...sessionSettings(role).map(
      (setting) => `ALTER ROLE ${name} IN DATABASE ${database} SET ${setting}`,
    ),
  ];
}

function sessionSettings(role: ProgramRole): string[] {
  if (role === gatewayRole) {
    return ["statement_timeout = '30s'", "default_transaction_read_only = on"];
  }
  // A layer's table must belong to the group, so that a worker with another login can replace it.
  return role === workerRole ? [`role = ${workerRole}`] : [];
}

import pg from "pg";
import { hasErrorCode } from "../../runtime/error-code.ts";
import type { OwnerDifference, RightDifference } from "./read-rights.ts";
import { readRights } from "./read-rights.ts";
import { orchestratorRole, programRoles, workerRole } from "./rights.ts";

const forbidden = "42501";

/**
 * Gives the groups the rights of rights.ts in this database, and takes every other right from them.
 * `migrate` calls it at its end, also when no file is pending: so a table of a later migration, a
 * group that was made after the migrations, and a dump that was restored without its rights end in
 * the same state. Only differences are written. Answers what the user of this connection could not
 * do, in words.
 */
export async function grantRights(client: pg.ClientBase): Promise<string[]> {
  const failures = new Set<string>();
  await ensureGroups(client, failures);
  const { missingRoles, rights, owners } = await readRights(client);
  if (missingRoles.length > 0) {
    failures.add(
      `the roles ${missingRoles.join(", ")} are missing, and this user may not make them`,
    );
  }
  await client.query("BEGIN");
  try {
    for (const text of rights.flatMap(grantSql)) await client.query(text);
    for (const difference of owners) {
      await attempt(
        client,
        giveSql(difference),
        failures,
        `${difference.wanted} cannot be made the owner of tables`,
      );
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
  return [...failures];
}

/**
 * Makes the groups that are missing, and the memberships: the orchestrator may do all that a worker
 * may, and the owner of the schemas hands tables to both. Another database of the same server may
 * make them at this moment.
 */
async function ensureGroups(client: pg.ClientBase, failures: Set<string>): Promise<void> {
  const { rows } = await client.query<{ role: string }>(
    `SELECT role FROM unnest($1::text[]) AS role
     WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role)`,
    [programRoles],
  );
  for (const { role } of rows) await tryAlone(client, `CREATE ROLE ${role} NOLOGIN`);
  const { rows: members } = await client.query<{ group: string; member: string }>(
    `SELECT "group", member FROM (VALUES ($1::name, $2::name), ($1, current_user), ($2, current_user))
       AS wanted("group", member)
     WHERE EXISTS (SELECT FROM pg_roles WHERE rolname = "group")
       AND EXISTS (SELECT FROM pg_roles WHERE rolname = member AND NOT rolsuper)
       AND NOT pg_has_role(member, "group", CASE
         WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END)`,
    [workerRole, orchestratorRole],
  );
  for (const { group, member } of members) {
    const done = await tryAlone(client, `GRANT ${group} TO ${pg.escapeIdentifier(member)}`);
    if (!done) failures.add(`${member} cannot be made a member of ${group}`);
  }
}

/** The last is PostgreSQL's "tuple concurrently updated": another database's session did the same. */
const alreadyDone = ["42710", "23505", "XX000"];

/** False: this user may not. A statement that another session completed first counts as done. */
async function tryAlone(client: pg.ClientBase, text: string): Promise<boolean> {
  try {
    await client.query(text);
    return true;
  } catch (error) {
    if (hasErrorCode(error, forbidden)) return false;
    if (hasErrorCode(error, ...alreadyDone)) return true;
    throw error;
  }
}

async function attempt(
  client: pg.ClientBase,
  texts: readonly string[],
  failures: Set<string>,
  failure: string,
): Promise<void> {
  await client.query("SAVEPOINT one");
  try {
    for (const text of texts) await client.query(text);
  } catch (error) {
    if (!hasErrorCode(error, forbidden)) throw error;
    await client.query("ROLLBACK TO SAVEPOINT one");
    failures.add(failure);
  }
}

function grantSql({ role, schema, relation, missing, excess }: RightDifference): string[] {
  const place = relation === undefined ? `SCHEMA ${schema}` : named(schema, relation);
  return [
    ...(excess.length === 0 ? [] : [`REVOKE ${excess.join(", ")} ON ${place} FROM ${role}`]),
    ...(missing.length === 0 ? [] : [`GRANT ${missing.join(", ")} ON ${place} TO ${role}`]),
  ];
}

/** A new owner must be allowed to create tables in the schema at the moment of the change. */
function giveSql({ schema, name, wanted }: OwnerDifference): string[] {
  const give = `ALTER TABLE ${named(schema, name)} OWNER TO ${wanted}`;
  if (schema === "geo") return [give];
  return [
    `GRANT CREATE ON SCHEMA ${schema} TO ${wanted}`,
    give,
    `REVOKE CREATE ON SCHEMA ${schema} FROM ${wanted}`,
  ];
}

function named(schema: string, name: string): string {
  return `${schema}.${pg.escapeIdentifier(name)}`;
}

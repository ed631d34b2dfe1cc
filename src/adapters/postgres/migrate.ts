/**
 * Brings the schema forward to the newest file in migrations/.
 *
 * Any number of programs may start at once and migrate: an advisory lock lets one of them work while
 * the others wait, and each then reads again which files have been applied. The lock belongs to the
 * session and not to a transaction, because every file has its own transaction: a failure in the
 * third file leaves the first two applied, and the next run continues there. If the migrating process
 * dies, the server ends its session and releases the lock.
 */
import { connectOptions } from "./connect-options.ts";
import pg from "pg";
import { MigrationError, readMigrations } from "./migration-files.ts";
import type { MigrationFile } from "./migration-files.ts";
import { readAppliedMigrations, refuseNewerSchema } from "./schema-version.ts";
import type { AppliedMigration } from "./schema-version.ts";
import { grantRights } from "./roles/grant-rights.ts";

export interface MigrateOptions {
  readonly directory?: string;
  readonly log?: (message: string) => void;
}

export interface MigrateResult {
  /** The names of the files that this call applied. */
  readonly applied: string[];
  /** Of the newest file that this program knows. */
  readonly version: number;
}

/** Any constant that no other program of this database uses for an advisory lock. */
const lockKey = 7_236_400_001;

/** `target` is a url or an open connection, which must not be in a transaction. */
export async function migrate(
  target: string | pg.ClientBase,
  options: MigrateOptions = {},
): Promise<MigrateResult> {
  const files = await readMigrations(options.directory);
  if (typeof target !== "string") return migrateWith(target, files, options);

  const client = new pg.Client({ ...connectOptions(target), application_name: "rmhdag migrate" });
  // An event without a listener would end the process; the query in flight rejects as well.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await migrateWith(client, files, options);
  } finally {
    await client.end();
  }
}

async function migrateWith(
  client: pg.ClientBase,
  files: readonly MigrationFile[],
  { log }: MigrateOptions,
): Promise<MigrateResult> {
  await client.query("SELECT pg_advisory_lock($1)", [lockKey]);
  try {
    const mayChange = await mayChangeSchema(client);
    if (mayChange) await client.query(createLedger);
    const applied = await readAppliedMigrations(client);
    refuseNewerSchema(applied, files);
    refuseEditedFiles(applied, files);

    const pending = files.filter(
      (file) => !applied.some(({ version }) => version === file.version),
    );
    if (!mayChange) {
      if (pending.length === 0) return { applied: [], version: files.length };
      throw new MigrationError("MIGRATION_FORBIDDEN", describeForbidden(pending));
    }
    for (const file of pending) {
      await applyWithNotices(client, file, log);
      log?.(`applied ${file.name}`);
    }
    const failures = await grantRights(client);
    for (const failure of failures) log?.(`${failure}: let an administrator run deploy/roles.sql`);
    return { applied: pending.map((file) => file.name), version: files.length };
  } finally {
    // Fails only if the connection is lost, and then the server releases the lock.
    await client.query("SELECT pg_advisory_unlock($1)", [lockKey]).catch(() => undefined);
  }
}

/** False: the schema belongs to a role whose rights this user does not have. */
async function mayChangeSchema(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ owns: boolean }>(
    `SELECT pg_has_role(relowner, 'USAGE') AS owns
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = 'dagapp' AND relname = 'schema_migrations'`,
  );
  return rows[0]?.owns ?? true;
}

function describeForbidden(pending: readonly MigrationFile[]): string {
  const names = pending.map(({ name }) => name).join(", ");
  return (
    `This user of the database may not change its schema, and ${names} must be applied: ` +
    "run `rmhdag migrate` with a DATABASE_URL of the schema's owner."
  );
}

const createLedger = `
  CREATE SCHEMA IF NOT EXISTS dagapp;
  CREATE TABLE IF NOT EXISTS dagapp.schema_migrations (
    version integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  );
  ALTER TABLE dagapp.schema_migrations ADD COLUMN IF NOT EXISTS oldest_program integer;
`;

/** Logs the notices that a file raises for its operator. */
async function applyWithNotices(
  client: pg.ClientBase,
  file: MigrationFile,
  log: MigrateOptions["log"],
): Promise<void> {
  const logNotice = ({ message }: { message?: string | undefined }): void => {
    if (message !== undefined) log?.(`${file.name}: ${message}`);
  };
  client.on("notice", logNotice);
  try {
    await apply(client, file);
  } finally {
    client.off("notice", logNotice);
  }
}

async function apply(client: pg.ClientBase, file: MigrationFile): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(file.sql);
    await client.query(
      `INSERT INTO dagapp.schema_migrations (version, name, checksum, oldest_program)
       VALUES ($1, $2, $3, $4)`,
      [file.version, file.name, file.checksum, file.oldestProgram],
    );
    await client.query("COMMIT");
  } catch (cause) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw new MigrationError("MIGRATION_FAILED", describeFailure(file, cause), { cause });
  } finally {
    // Settings that a file changes for its session must not reach the next file.
    await client.query("RESET ALL").catch(() => undefined);
  }
}

function describeFailure(file: MigrationFile, cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const position = cause instanceof pg.DatabaseError ? Number(cause.position ?? Number.NaN) : NaN;
  const line = Number.isNaN(position)
    ? ""
    : ` (line ${file.sql.slice(0, position - 1).split("\n").length})`;
  return `Migration ${file.name} failed and was rolled back: ${reason}${line}`;
}

function refuseEditedFiles(
  applied: readonly AppliedMigration[],
  files: readonly MigrationFile[],
): void {
  for (const { version, name, checksum } of applied) {
    const file = files[version - 1];
    if (file === undefined || file.checksum === checksum) continue;
    throw new MigrationError(
      "MIGRATION_EDITED",
      `Migration ${file.name} was applied to this database as ${name} and has been edited since: ` +
        `restore the file, and put the change into a new migration.`,
    );
  }
}

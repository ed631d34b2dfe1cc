import { hasErrorCode } from "../runtime/error-code.ts";
import type { Queryable } from "./queryable.ts";
import { MigrationError, readMigrations } from "./migration-files.ts";
import type { MigrationFile } from "./migration-files.ts";

export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** Null where an older program applied the migration: it needs its own program. */
  readonly oldest_program: number | null;
}

/** The driver's clients and our own database share this method. */
type Reader = Pick<Queryable, "query">;

const undefinedTable = "42P01";

/**
 * Throws when the schema is older than this program, or newer in a way that the program cannot live
 * with. Every program calls it at its start, so that an operator reads at once what to do.
 */
export async function checkSchema(db: Reader, options: { directory?: string } = {}): Promise<void> {
  const files = await readMigrations(options.directory);
  const applied = await readAppliedMigrations(db).catch((error: unknown) => {
    if (hasErrorCode(error, undefinedTable)) return [];
    throw error;
  });
  refuseNewerSchema(applied, files);
  const version = newest(applied);
  if (version < files.length) {
    throw new MigrationError(
      "SCHEMA_TOO_OLD",
      `The database is at version ${version} and this program needs ${files.length}: ` +
        "run `rmhdag migrate`.",
    );
  }
}

export async function readAppliedMigrations(db: Reader): Promise<AppliedMigration[]> {
  const { rows } = await db.query<AppliedMigration>(
    // As JSON: a ledger of an older program lacks the column.
    `SELECT version, name, checksum,
       (to_jsonb(ledger) ->> 'oldest_program')::integer AS oldest_program
     FROM dagapp.schema_migrations AS ledger ORDER BY version`,
  );
  return rows;
}

export function refuseNewerSchema(
  applied: readonly AppliedMigration[],
  files: readonly MigrationFile[],
): void {
  const version = newest(applied);
  if (canLiveWith(applied, files.length)) return;
  throw new MigrationError(
    "SCHEMA_TOO_NEW",
    "This program is older than the database: upgrade it " +
      `(it knows up to ${files.length}, the database is at ${version}).`,
  );
}

/** True unless a migration that the program does not know needs a newer program. */
export function canLiveWith(
  applied: readonly Pick<AppliedMigration, "version" | "oldest_program">[],
  program: number,
): boolean {
  return applied.every(
    ({ version, oldest_program }) => version <= program || (oldest_program ?? version) <= program,
  );
}

function newest(applied: readonly AppliedMigration[]): number {
  return applied.at(-1)?.version ?? 0;
}

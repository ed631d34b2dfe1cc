import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

export type MigrationErrorCode =
  | "NO_MIGRATIONS"
  | "MIGRATION_NUMBERING"
  | "MIGRATION_EDITED"
  | "MIGRATION_FAILED"
  | "MIGRATION_FORBIDDEN"
  | "SCHEMA_TOO_OLD"
  | "SCHEMA_TOO_NEW";

export class MigrationError extends Error {
  override readonly name = "MigrationError";
  readonly code: MigrationErrorCode;

  constructor(code: MigrationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface MigrationFile {
  readonly version: number;
  /** The name of the file, such as `0001_jobs.sql`. */
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** The oldest program, by the number of its newest migration, that can live with this schema. */
  readonly oldestProgram: number;
}

/** Three folders up is the package root, from src/adapters/postgres and from dist alike. */
const migrationsDirectory = fileURLToPath(new URL("../../../migrations", import.meta.url));

const pattern = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** A migration that only adds says which programs can live with it; others need its own. */
const livesWith = /^-- Programs from (\d+) on can live with this schema\.$/m;
/** The generated dump of the whole schema, which lies beside the migrations. */
const dumpName = "schema.sql";

/** Reads the numbered files in order: 0001, 0002 … without a gap. */
export async function readMigrations(directory = migrationsDirectory): Promise<MigrationFile[]> {
  const names = (await readdir(directory).catch(refuseDirectory(directory)))
    .filter((name) => name.endsWith(".sql") && name !== dumpName)
    .sort();
  const files = await Promise.all(names.map((name) => readMigration(directory, name)));
  files.forEach((file, index) => {
    if (file.version !== index + 1) {
      throw new MigrationError(
        "MIGRATION_NUMBERING",
        `Migration ${file.name} should have number ${String(index + 1).padStart(4, "0")}: ` +
          `the files in ${directory} must count up from 0001 without a gap or a repetition.`,
      );
    }
  });
  return files;
}

async function readMigration(directory: string, name: string): Promise<MigrationFile> {
  const digits = pattern.exec(name)?.[1];
  if (digits === undefined) {
    throw new MigrationError(
      "MIGRATION_NUMBERING",
      `${name} in ${directory} is not a migration's name: call it NNNN_what.sql, in lower case.`,
    );
  }
  const sql = await readFile(path.join(directory, name), "utf8");
  // A checkout with CRLF line ends must have the same checksum.
  const checksum = createHash("sha256").update(sql.replaceAll("\r\n", "\n")).digest("hex");
  const version = Number(digits);
  const oldestProgram = Number(livesWith.exec(sql)?.[1] ?? version);
  return { version, name, sql, checksum, oldestProgram };
}

function refuseDirectory(directory: string) {
  return (cause: unknown): never => {
    throw new MigrationError("NO_MIGRATIONS", `Cannot read the migrations in ${directory}.`, {
      cause,
    });
  };
}

export type MigrationErrorCode =
  | "NO_MIGRATIONS"
  | "MIGRATION_NUMBERING"
  | "MIGRATION_EDITED"
  | "MIGRATION_FAILED"
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

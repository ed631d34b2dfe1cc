import type { Database } from "../../adapters/postgres/database.ts";
import type { Staging } from "../../adapters/storage/staging.ts";
import type { Storage } from "../../adapters/storage/storage.ts";

export interface FileDeps {
  readonly db: Database;
  readonly storage: Storage;
  readonly uploads: {
    readonly staging: Staging;
    /** The largest file that may be uploaded. */
    readonly maxBytes: number;
  };
}

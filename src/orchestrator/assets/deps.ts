import type { Database } from "../../adapters/postgres/database.ts";
import type { SourceResolver } from "../../adapters/storage/resolve-source.ts";
import type { JobDeps } from "../jobs/deps.ts";
import type { CallbackSettings } from "../partner-callbacks/check-callback-url.ts";

/** What the verbs of assets use. */
export interface AssetDeps {
  /** A pool of its own: a verb that waits for the lock of an asset must not keep a tick waiting. */
  readonly db: Database;
  readonly engine: JobDeps;
  /** Finds the files that inputs name. */
  readonly sources: SourceResolver;
  readonly callbacks: CallbackSettings;
  readonly mutex: AssetMutex;
  /** The database outside of the platform; undefined: there is none. */
  readonly external?:
    | {
        readonly db: Database;
        /** Before paths of the platform in what is published; empty: they stay paths. */
        readonly publicUrl: string;
      }
    | undefined;
  /** Called after the commit of a change of an asset. */
  readonly onChanged?: (() => void) | undefined;
}

/** Runs the work for one asset one after the other in this process. */
export type AssetMutex = <T>(assetId: string, work: () => Promise<T>) => Promise<T>;

/**
 * Two hundred submissions of one asset would each hold a connection while they wait for the lock of
 * one row. Within a process they wait here instead; between processes the row lock decides.
 */
export function createAssetMutex(): AssetMutex {
  const last = new Map<string, Promise<unknown>>();
  return async (assetId, work) => {
    const before = last.get(assetId) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(assetId, mine);
    try {
      return await mine;
    } finally {
      if (last.get(assetId) === mine) last.delete(assetId);
    }
  };
}

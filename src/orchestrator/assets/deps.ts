import type { Database } from "../../adapters/postgres/database.ts";
import type { SourceResolver } from "../../adapters/storage/resolve-source.ts";
import type { JobDeps } from "../jobs/deps.ts";
import type { KeyedLock } from "./keyed-lock.ts";

/** What the domain's verbs use. */
export interface DomainDeps {
  /** Not the engine's: who waits for an asset's lock here must not keep a tick from its connection. */
  readonly db: Database;
  readonly engine: JobDeps;
  /** Where inputs that name a file are looked for. */
  readonly sources: SourceResolver;
  readonly callbacks: CallbackSettings;
  /** One at a time for each asset in this process, before the database's lock is asked for. */
  readonly turns: KeyedLock;
  readonly wake: () => void;
}

export interface CallbackSettings {
  /** Secrets are derived from it; without it nothing can be signed, so nothing is sent. */
  readonly signingKey: string | undefined;
  /** Where callbacks of jobs may go that no platform asked for: a platform has a list of its own. */
  readonly jobHosts: readonly string[];
}

/** Who changes something, and on which state. */
export interface Act {
  /** Whom the caller acts for. */
  readonly actor: string;
  /** Whose token it is. */
  readonly via: string;
  /** The row version that the change was decided on. */
  readonly ifMatch?: number | undefined;
}

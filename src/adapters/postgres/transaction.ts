/**
 * Runs BEGIN, work and COMMIT on one connection of the pool.
 *
 * The work may run more than once: when PostgreSQL aborts this transaction because of a deadlock or a
 * serialization conflict, it is rolled back, and PostgreSQL's documentation says to run it again. So
 * the work must change nothing but the database.
 */
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { backoffDelay } from "../../core/backoff.ts";
import { hasErrorCode } from "../runtime/error-code.ts";
import { isReadTimeout } from "./outage.ts";
import type { Transaction } from "./queryable.ts";
import { createStatementPipeline } from "./statement-pipeline.ts";

export type { Transaction } from "./queryable.ts";

export interface TransactionOptions {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  readonly readOnly?: boolean;
  /**
   * `off` answers before the commit is on disk. Only for rows that may be lost because the work is
   * then done again, such as leases and reports.
   */
  readonly synchronousCommit?: "on" | "off";
  /** The limit for each statement, where that of the database does not fit: building a large index. */
  readonly statementTimeoutMs?: number;
  /** How often the work is run, the first run included, when deadlocks or conflicts abort it. */
  readonly maxAttempts?: number;
}

const serializationFailure = "40001";
const deadlockDetected = "40P01";
const defaultMaxAttempts = 5;
const firstPauseMs = 10;
const longestPauseMs = 1000;

export async function runTransaction<T>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  return retryConflicts(() => runOnce(pool, work, options), options.maxAttempts);
}

/** Runs a transaction again when PostgreSQL aborted it because of another one. */
export async function retryConflicts<T>(
  run: () => Promise<T>,
  maxAttempts = defaultMaxAttempts,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= maxAttempts || !isRetryable(error)) throw error;
      // The pause lets the other transaction take the victim's rows first. A victim that comes back
      // at once may lock a row before its waiter has woken up, and both deadlock again.
      await pause(backoffDelay(attempt - 1, firstPauseMs, longestPauseMs));
    }
  }
}

async function runOnce<T>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const client = await pool.connect();
  // While a client is out of the pool, a lost connection is reported on the client itself, and an
  // event without a listener would end the process. The query in flight rejects as well.
  let lost: Error | undefined;
  const onError = (error: Error) => (lost = error);
  client.on("error", onError);
  const statements = createStatementPipeline(client, options.statementTimeoutMs);
  const committed: (() => void)[] = [];
  const rolledBack: (() => void)[] = [];
  let finished = false;
  let result: T;
  try {
    // By name, because a statement without one is answered by itself.
    for (const text of beginTexts(options)) statements.send(text, undefined, text);
    result = await work({
      inTransaction: true,
      afterCommit: (action) => committed.push(action),
      afterRollback: (action) => rolledBack.push(action),
      query: async (text, values, name) => {
        // A query that was not awaited would otherwise run outside of the transaction, on a
        // connection that may already serve another caller.
        if (finished) throw new Error("This transaction is over: await every query inside of it.");
        return statements.query(text, values, name);
      },
      send: (text, values, name) => {
        if (finished) throw new Error("This transaction is over.");
        statements.send(text, values, name);
      },
    });
    finished = true;
    await statements.commit();
  } catch (error) {
    finished = true;
    // A connection that did not answer would not answer ROLLBACK either: closing it rolls back.
    if (isReadTimeout(error)) lost ??= error as Error;
    else {
      await statements.rollback().catch((failure: unknown) => {
        lost ??= failure instanceof Error ? failure : new Error(String(failure));
      });
    }
    for (const action of rolledBack) action();
    throw error;
  } finally {
    client.off("error", onError);
    // A connection in an unknown state is closed and does not go back to the pool.
    client.release(lost);
  }
  for (const action of committed) action();
  return result;
}

function beginTexts(options: TransactionOptions): readonly string[] {
  const modes = [
    options.isolation === undefined ? "" : ` ISOLATION LEVEL ${options.isolation.toUpperCase()}`,
    options.readOnly === true ? " READ ONLY" : "",
  ].join("");
  const commit = options.synchronousCommit;
  return commit === undefined
    ? [`BEGIN${modes}`]
    : [`BEGIN${modes}`, `SET LOCAL synchronous_commit = ${commit}`];
}

function isRetryable(error: unknown): boolean {
  return hasErrorCode(error, serializationFailure, deadlockDetected);
}

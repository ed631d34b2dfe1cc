/**
 * Runs BEGIN, work and COMMIT on one connection of the pool.
 *
 * The work may run more than once: when PostgreSQL aborts this transaction because of a deadlock or a
 * serialization conflict, it is rolled back, and PostgreSQL's documentation says to run it again. So
 * the work must change nothing but the database.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { backoffDelay } from "../../core/backoff.ts";
import { hasErrorCode } from "../runtime/error-code.ts";
import { statement } from "./queryable.ts";
import type { Row, Transaction } from "./queryable.ts";
import { StatementBatch } from "./statement-batch.ts";
import type { BatchedStatement } from "./statement-batch.ts";
import { types } from "./types.ts";

export type { Transaction } from "./queryable.ts";

export interface TransactionOptions {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  readonly readOnly?: boolean;
  /**
   * `off` answers before the commit is on disk. Only for rows that may be lost because the work is
   * then done again, such as leases and reports.
   */
  readonly synchronousCommit?: "on" | "off";
  /** The limit for each statement where a minute is too short: building an index on a large table. */
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
  const maxAttempts = options.maxAttempts ?? defaultMaxAttempts;
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(pool, work, options);
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
  const buffer = createStatementBuffer(client, options);
  const committed: (() => void)[] = [];
  const rolledBack: (() => void)[] = [];
  let finished = false;
  let result: T;
  try {
    for (const text of beginTexts(options)) buffer.send(text);
    result = await work({
      inTransaction: true,
      afterCommit: (action) => committed.push(action),
      afterRollback: (action) => rolledBack.push(action),
      query: async (text, values, name) => {
        // A query that was not awaited would otherwise run outside of the transaction, on a
        // connection that may already serve another caller.
        if (finished) throw new Error("This transaction is over: await every query inside of it.");
        return buffer.query(text, values, name);
      },
      copyIn: async (text, bytes) => {
        if (finished) throw new Error("This transaction is over.");
        await buffer.drain();
        const copy = client.query(copyFrom(text));
        await pipeline(Readable.from(bytes), copy);
        return copy.rowCount;
      },
      send: (text, values, name) => {
        if (finished) throw new Error("This transaction is over.");
        buffer.send(text, values, name);
      },
    });
    finished = true;
    // COMMIT of a transaction in which a statement failed answers ROLLBACK and is no error.
    if ((await buffer.query("COMMIT", undefined, "COMMIT")).command !== "COMMIT") {
      throw new Error("The transaction was rolled back: a statement in it failed and was ignored.");
    }
  } catch (error) {
    finished = true;
    await buffer.rollback().catch((failure: unknown) => {
      lost ??= failure instanceof Error ? failure : new Error(String(failure));
    });
    for (const action of rolledBack) action();
    throw error;
  } finally {
    client.off("error", onError);
    // A connection in an unknown state is closed and does not go back to the pool.
    client.release(lost ?? buffer.mustCloseConnection());
  }
  for (const action of committed) action();
  return result;
}

/** Buffers the statements of a transaction, so that several travel in one round trip. */
interface StatementBuffer {
  /** Sends the statement with the next query. If it fails, that query rejects. */
  send(text: string, values?: readonly unknown[], name?: string): void;
  query<R extends Row>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<pg.QueryResult<R>>;
  /** Sends the buffered statements; resolves when the server has answered all of them. */
  drain(): Promise<void>;
  /** Drops the buffered statements, and rolls back if any was sent. */
  rollback(): Promise<void>;
  mustCloseConnection(): boolean;
}

/**
 * Buffers statements until a caller awaits an answer or commits; then all are sent together and
 * answered together. A transaction costs as many round trips as it has awaited queries.
 */
function createStatementBuffer(
  client: pg.PoolClient,
  { statementTimeoutMs }: TransactionOptions,
): StatementBuffer {
  let buffered: BatchedStatement[] = [];
  let hasBegun = false;
  let mustClose = false;
  /** Resolves with the sent batch. One batch is sent at a time; later statements go with the next. */
  let inFlight: Promise<void> | undefined;
  let isScheduled = false;

  function flush(): void {
    isScheduled = false;
    if (buffered.length === 0 || inFlight !== undefined) return;
    const batch = new StatementBatch(buffered, types);
    buffered = [];
    hasBegun = true;
    inFlight = new Promise((resolve) => {
      batch.callback = () => {
        mustClose ||= batch.mustCloseConnection;
        inFlight = undefined;
        resolve();
        if (buffered.some(({ wantsRows }) => wantsRows)) scheduleFlush();
      };
    });
    // The driver reads the limit from this property of what it submits.
    if (statementTimeoutMs !== undefined) {
      Object.assign(batch, { query_timeout: statementTimeoutMs });
    }
    client.query(batch as unknown as pg.Submittable);
  }

  /** Statements of the same turn of the event loop are sent in the same message. */
  function scheduleFlush(): void {
    if (!isScheduled) process.nextTick(flush);
    isScheduled = true;
  }

  return {
    send(text, values, name) {
      buffered.push({
        ...statement(text, values, name),
        wantsRows: false,
        resolve: () => undefined,
        reject: () => undefined,
      });
    },
    query: (text, values, name) =>
      new Promise((resolve, reject) => {
        buffered.push({ ...statement(text, values, name), wantsRows: true, resolve, reject });
        scheduleFlush();
      }),
    async drain() {
      flush();
      while (inFlight !== undefined) await inFlight;
    },
    async rollback() {
      buffered = [];
      await inFlight;
      if (hasBegun) await client.query("ROLLBACK");
    },
    mustCloseConnection: () => mustClose,
  };
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

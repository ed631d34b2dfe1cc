/**
 * BEGIN, work, COMMIT, on one connection of the pool.
 *
 * The work may run more than once: when PostgreSQL chooses this transaction as the victim of a
 * deadlock or of a serialization conflict, nothing of it has happened, and running it again is the
 * documented cure. So the work must touch nothing but the database.
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
   * `off` answers before the commit is on disk. Only for what may be lost and is then done again,
   * such as leases and reports.
   */
  readonly synchronousCommit?: "on" | "off";
  /** For one statement, where a minute is not enough: building an index over a whole table. */
  readonly statementTimeoutMs?: number;
  /** Runs after a deadlock or a serialization failure, the first one included. */
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
  const line = openLine(client, options);
  const committed: (() => void)[] = [];
  const rolledBack: (() => void)[] = [];
  let finished = false;
  let result: T;
  try {
    for (const text of beginTexts(options)) line.send(text);
    result = await work({
      inTransaction: true,
      afterCommit: (action) => committed.push(action),
      afterRollback: (action) => rolledBack.push(action),
      query: async (text, values, name) => {
        // A query that was not awaited would otherwise run outside of the transaction, on a
        // connection that may already serve another caller.
        if (finished) throw new Error("This transaction is over: await every query inside of it.");
        return line.query(text, values, name);
      },
      copyIn: async (text, bytes) => {
        if (finished) throw new Error("This transaction is over.");
        await line.settle();
        const copy = client.query(copyFrom(text));
        await pipeline(Readable.from(bytes), copy);
        return copy.rowCount;
      },
      send: (text, values, name) => {
        if (finished) throw new Error("This transaction is over.");
        line.send(text, values, name);
      },
    });
    finished = true;
    // COMMIT of a transaction in which a statement failed answers ROLLBACK and is no error.
    if ((await line.query("COMMIT", undefined, "COMMIT")).command !== "COMMIT") {
      throw new Error("The transaction was rolled back: a statement in it failed and was ignored.");
    }
  } catch (error) {
    finished = true;
    await line.abandon().catch((failure: unknown) => {
      lost ??= failure instanceof Error ? failure : new Error(String(failure));
    });
    for (const action of rolledBack) action();
    throw error;
  } finally {
    client.off("error", onError);
    // A connection in an unknown state is thrown away, never handed to the next caller.
    client.release(lost ?? line.isSpoiled());
  }
  for (const action of committed) action();
  return result;
}

interface Line {
  /** Leaves with the next query; its failure is that query's. */
  send(text: string, values?: readonly unknown[], name?: string): void;
  query<R extends Row>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<pg.QueryResult<R>>;
  /** Resolves when all that was sent is answered. */
  settle(): Promise<void>;
  /** Rolls back what the server has heard of. */
  abandon(): Promise<void>;
  isSpoiled(): boolean;
}

/**
 * Buffers statements until a caller awaits an answer or commits; then all are sent together and
 * answered together. A transaction costs as many round trips as it has awaited queries.
 */
function openLine(client: pg.PoolClient, { statementTimeoutMs }: TransactionOptions): Line {
  let waiting: BatchedStatement[] = [];
  let hasBegun = false;
  let isSpoiled = false;
  /** Of the batch that is under way: one at a time, and what is asked meanwhile goes with the next. */
  let answered: Promise<void> | undefined;
  let isLeaving = false;

  function flush(): void {
    isLeaving = false;
    if (waiting.length === 0 || answered !== undefined) return;
    const batch = new StatementBatch(waiting, types);
    waiting = [];
    hasBegun = true;
    answered = new Promise((resolve) => {
      batch.callback = () => {
        isSpoiled ||= batch.isSpoiled;
        answered = undefined;
        resolve();
        if (waiting.some(({ wantsRows }) => wantsRows)) leave();
      };
    });
    const patient =
      statementTimeoutMs === undefined
        ? batch
        : Object.assign(batch, { query_timeout: statementTimeoutMs });
    client.query(patient as unknown as pg.Submittable);
  }

  /** What is asked in the same turn leaves in the same message. */
  function leave(): void {
    if (!isLeaving) process.nextTick(flush);
    isLeaving = true;
  }

  return {
    send(text, values, name) {
      waiting.push({
        ...statement(text, values, name),
        wantsRows: false,
        resolve: () => undefined,
        reject: () => undefined,
      });
    },
    query: (text, values, name) =>
      new Promise((resolve, reject) => {
        waiting.push({ ...statement(text, values, name), wantsRows: true, resolve, reject });
        leave();
      }),
    async settle() {
      flush();
      while (answered !== undefined) await answered;
    },
    async abandon() {
      waiting = [];
      await answered;
      if (hasBegun) await client.query("ROLLBACK");
    },
    isSpoiled: () => isSpoiled,
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

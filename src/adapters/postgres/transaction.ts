/**
 * BEGIN, work, COMMIT, on one connection of the pool.
 *
 * The work may run more than once: when PostgreSQL chooses this transaction as the victim of a
 * deadlock or of a serialization conflict, nothing of it has happened, and running it again is the
 * documented cure. So the work must touch nothing but the database.
 */
import type { Writable } from "node:stream";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { statement } from "./queryable.ts";
import type { Transaction } from "./queryable.ts";

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
const transactionAborted = "25P02";
const defaultMaxAttempts = 5;

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
  let finished = false;
  const sent: Promise<unknown>[] = [];
  const patience =
    options.statementTimeoutMs === undefined ? {} : { query_timeout: options.statementTimeoutMs };
  const send = (text: string, values?: readonly unknown[], name?: string): void => {
    leaveTogether(client);
    const answer = client.query({ ...statement(text, values, name), ...patience });
    answer.catch(() => undefined);
    sent.push(answer);
  };
  try {
    // One string, so that the settings cost no round trip of their own; and not awaited, so that on
    // a pipelined connection the first statement leaves together with it.
    send(beginText(options));
    const result = await work({
      inTransaction: true,
      query: async (text, values, name) => {
        // A query that was not awaited would otherwise run outside of the transaction, on a
        // connection that may already serve somebody else.
        if (finished) throw new Error("This transaction is over: await every query inside of it.");
        return client.query({ ...statement(text, values, name), ...patience });
      },
      copyIn: async (text, bytes) => {
        if (finished) throw new Error("This transaction is over.");
        const copy = client.query(copyFrom(text));
        await pipeline(Readable.from(bytes), copy);
        return copy.rowCount;
      },
      send: (text, values, name) => {
        if (finished) throw new Error("This transaction is over.");
        send(text, values, name);
      },
    });
    finished = true;
    // After a statement that failed, COMMIT rolls back: it is safe to send it before the answers.
    const commit = client.query("COMMIT");
    commit.catch(() => undefined);
    for (const answer of sent) await answer;
    // COMMIT of a transaction in which a statement failed answers ROLLBACK and is no error.
    if ((await commit).command !== "COMMIT") {
      throw new Error("The transaction was rolled back: a statement in it failed and was ignored.");
    }
    return result;
  } catch (error) {
    finished = true;
    await client.query("ROLLBACK").catch((failure: unknown) => {
      lost ??= failure instanceof Error ? failure : new Error(String(failure));
    });
    throw (await causeOf(error, sent)) ?? error;
  } finally {
    client.off("error", onError);
    // A connection in an unknown state is thrown away, never handed to the next caller.
    client.release(lost);
  }
}

/**
 * What is sent in one turn goes out in one write: the server is woken once, and on an idle machine
 * a write costs as much as the statement in it.
 */
function leaveTogether(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  stream.cork();
  process.nextTick(() => {
    stream.uncork();
  });
}

/** A query behind a sent statement that failed only hears that the transaction is aborted. */
async function causeOf(error: unknown, sent: readonly Promise<unknown>[]): Promise<unknown> {
  if (codeOf(error) !== transactionAborted) return undefined;
  const answers = await Promise.allSettled(sent);
  return answers.find((answer) => answer.status === "rejected")?.reason;
}

function beginText(options: TransactionOptions): string {
  const modes = [
    options.isolation === undefined ? "" : ` ISOLATION LEVEL ${options.isolation.toUpperCase()}`,
    options.readOnly === true ? " READ ONLY" : "",
  ].join("");
  const commit = options.synchronousCommit;
  return commit === undefined
    ? `BEGIN${modes}`
    : `BEGIN${modes}; SET LOCAL synchronous_commit = ${commit}`;
}

function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code === serializationFailure || code === deadlockDetected;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { code?: unknown }).code : undefined;
}

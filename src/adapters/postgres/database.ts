import { connectOptions } from "./connect-options.ts";
import pg from "pg";
import { CoalescingSocket } from "./coalescing-socket.ts";
import { runCopyTransaction } from "./copy-transaction.ts";
import type { CopyTransaction } from "./copy-transaction.ts";
import { statement } from "./queryable.ts";
import type { Queryable, Row, Transaction } from "./queryable.ts";
import { queryThenFlush } from "./query-then-flush.ts";
import type { Flushing } from "./query-then-flush.ts";
import { isReadTimeout } from "./outage.ts";
import { runTransaction } from "./transaction.ts";
import type { TransactionOptions } from "./transaction.ts";
import { types } from "./types.ts";

export type { Queryable, Transaction } from "./queryable.ts";

export interface Database extends Queryable {
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  copyTransaction<T>(work: (tx: CopyTransaction) => Promise<T>): Promise<T>;
  /** For a statement whose commit does not wait for the disk: says also when it is there. */
  queryThenFlush<R extends Row>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<Flushing<R>>;
  close(): Promise<void>;
}

export interface OpenDatabaseOptions {
  readonly url: string;
  /** Shown in pg_stat_activity, so that an operator sees which process holds a lock. */
  readonly applicationName: string;
  readonly max?: number;
  /** A connection is replaced after so many statements. */
  readonly maxUses?: number | undefined;
  /** How long a statement may take before its connection counts as dead. */
  readonly queryTimeoutMs?: number;
  /** Called when an idle connection was lost. The pool replaces it; this is for the log. */
  readonly onConnectionLost?: (error: Error) => void;
}

export function openDatabase(options: OpenDatabaseOptions): Database {
  let pool = openPool(options, true);
  let copyPool: pg.Pool | undefined;
  let closing: Promise<void> | undefined;
  const abandoned: Promise<void>[] = [];

  /**
   * Replaces the pool when a statement got no answer in time: its other connections are probably dead
   * as well, and each would cost another time limit.
   */
  async function onPool<T>(run: (used: pg.Pool) => Promise<T>): Promise<T> {
    const used = pool;
    try {
      return await run(used);
    } catch (error) {
      if (isReadTimeout(error) && used === pool && closing === undefined) {
        pool = openPool(options, true);
        abandoned.push(used.end());
      }
      throw error;
    }
  }

  return {
    query: (text, values, name) => onPool((used) => used.query(statement(text, values, name))),
    transaction: (work, transactionOptions) =>
      onPool((used) => runTransaction(used, work, transactionOptions)),
    queryThenFlush: (text, values, name) =>
      onPool((used) => queryThenFlush(used, statement(text, values, name))),
    copyTransaction: (work) => runCopyTransaction((copyPool ??= openPool(options, false)), work),
    close: () =>
      (closing ??= Promise.all([pool.end(), copyPool?.end(), ...abandoned]).then(() => undefined)),
  };
}

function openPool(options: OpenDatabaseOptions, isPipelined: boolean): pg.Pool {
  const pool = new pg.Pool({
    ...connectOptions(options.url),
    application_name: options.applicationName,
    max: options.max ?? 10,
    maxUses: options.maxUses ?? Infinity,
    pipeline: isPipelined,
    stream: () => new CoalescingSocket(isPipelined),
    // A server that is restarting refuses at once; one that is unreachable must not hang a request.
    connectionTimeoutMillis: 10_000,
    // A process that is frozen in the middle of a transaction, or loses its network, would keep its
    // row locks for hours, and no other orchestrator could take over its jobs. The URL may name
    // another time.
    idle_in_transaction_session_timeout: 60_000,
    // A server or network that fails without closing the connection answers no statement, and TCP
    // alone notices only after a quarter of an hour. No statement of ours takes this long.
    query_timeout: options.queryTimeoutMs ?? 60_000,
    keepAlive: true,
    types,
  });
  // Without a listener an idle connection that the server closes would end the whole process.
  pool.on("error", (error) => options.onConnectionLost?.(error));
  // The pool removes its own listener from a connection that it lends out. The server's message that
  // it ends the connection can be read before the borrower has added a listener. Ignored here: the
  // borrower's next query rejects.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

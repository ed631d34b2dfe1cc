import pg from "pg";
import { statement } from "./queryable.ts";
import type { Queryable, Transaction } from "./queryable.ts";
import { runTransaction } from "./transaction.ts";
import type { TransactionOptions } from "./transaction.ts";
import { types } from "./types.ts";

export type { Queryable, Transaction } from "./queryable.ts";

export interface Database extends Queryable {
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
}

export interface OpenDatabaseOptions {
  readonly url: string;
  /** Shown in pg_stat_activity, so that an operator sees which process holds a lock. */
  readonly applicationName: string;
  readonly max?: number;
  /** Called when an idle connection was lost. The pool replaces it; this is for the log. */
  readonly onConnectionLost?: (error: Error) => void;
}

export function openDatabase(options: OpenDatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    // A server that is restarting refuses at once; one that is unreachable must not hang a request.
    connectionTimeoutMillis: 10_000,
    // A process that is frozen in the middle of a transaction, or loses its network, would keep its
    // row locks for hours, and no other orchestrator could take over its jobs. The URL may name
    // another time.
    idle_in_transaction_session_timeout: 60_000,
    // A server or network that fails without closing the connection answers no statement, and TCP
    // alone notices only after a quarter of an hour. No statement of ours takes this long.
    query_timeout: 60_000,
    keepAlive: true,
    types,
  });
  // Without a listener an idle connection that the server closes would end the whole process.
  pool.on("error", (error) => options.onConnectionLost?.(error));
  // The pool removes its own listener from a connection that it lends out. The server's message that
  // it ends the connection can be read before the borrower has added a listener. Ignored here: the
  // borrower's next query rejects.
  pool.on("connect", (client) => client.on("error", () => undefined));

  let closing: Promise<void> | undefined;
  return {
    query: (text, values, name) => pool.query(statement(text, values, name)),
    transaction: (work, transactionOptions) => runTransaction(pool, work, transactionOptions),
    close: () => (closing ??= pool.end()),
  };
}

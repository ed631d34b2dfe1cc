/**
 * Sends several statements in one message to the server, which answers them in one message.
 *
 * The driver ends every statement with a Sync, which makes the server answer it at once: six
 * statements are six packets back, each of which wakes this process while the server works on the
 * next, and on an idle machine waking costs more than the statements. Here only the last statement is
 * followed by a Sync. After a failure the server skips the rest, as a transaction needs it.
 *
 * Each statement is a query object of the driver. It writes to a connection whose `sync` does nothing,
 * and this batch passes the server's messages to the query that they answer.
 */
import type { Writable } from "node:stream";
import pg from "pg";
import type { QueryResult } from "pg";

export interface BatchedStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
  /** False: the rows are discarded, and the server is not asked to describe them. */
  readonly wantsRows: boolean;
  readonly resolve: (result: QueryResult) => void;
  readonly reject: (error: Error) => void;
}

/** The members of the driver's connection that this file uses; its types do not declare them. */
interface Connection {
  readonly stream: Writable;
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: unknown): void;
  bind(message: unknown): void;
  execute(message: unknown): void;
  describe(message: unknown): void;
  close(message: unknown): void;
  sync(): void;
  sendCopyFail(message: string): void;
}

interface DriverQuery {
  readonly text: string;
  name: string | undefined;
  values: readonly unknown[] | undefined;
  queryMode: string;
  callback: (error: Error | null, result?: QueryResult) => void;
  _result: { _types: unknown };
  submit(connection: unknown): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: unknown): void;
  handleError(error: Error, connection: unknown): void;
  handleReadyForQuery(connection: unknown): void;
}

interface Part {
  readonly query: DriverQuery;
  readonly wantsRows: boolean;
}

const Query = pg.Query as unknown as new (text: string) => DriverQuery;

export class StatementBatch {
  /** The driver replaces this function by one that also stops its query timer. */
  callback: (error: Error | null) => void = () => undefined;
  /** Statements were being prepared when the batch failed: which of them exist now is unknown. */
  mustCloseConnection = false;

  private readonly parts: readonly Part[];
  /** The index of the statement whose answer comes next. */
  private current = 0;
  private isPreparing = false;
  private unsendable: Error | undefined;

  constructor(statements: readonly BatchedStatement[], types: unknown) {
    this.parts = statements.map(({ text, values, name, wantsRows, resolve, reject }) => {
      // Not with a configuration object: the driver copies it, which takes longer than all the rest.
      const query = new Query(text);
      query.queryMode = "extended";
      query.values = values;
      query.name = name;
      query._result._types = types;
      query.callback = (error, result) => {
        if (error !== null) reject(error);
        else if (result !== undefined) resolve(result);
      };
      return { query, wantsRows };
    });
  }

  submit(connection: Connection): Error | null {
    connection.stream.cork();
    try {
      for (const { query, wantsRows } of this.parts) {
        const refused = query.submit(this.withoutSync(connection, wantsRows)) ?? this.unsendable;
        if (refused === undefined) continue;
        // Nothing is sent yet, and nothing may be: the other statements are only a part of the change.
        connection.stream.destroy(refused);
        return refused;
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.parts[this.current]?.query.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    const part = this.parts[this.current];
    if (part?.wantsRows === true) part.query.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    const query = this.parts[this.current]?.query;
    if (query === undefined) return;
    if (query.name !== undefined) {
      connection.parsedStatements[query.name] = query.text;
      Reflect.deleteProperty(connection.submittedNamedStatements, query.name);
    }
    query.handleCommandComplete(message, connection);
    this.current += 1;
  }

  handleReadyForQuery(connection: Connection): void {
    for (const { query } of this.parts) query.handleReadyForQuery(connection);
    this.callback(null);
  }

  /** Statements before the failed one keep their answers, although the transaction is rolled back. */
  handleError(error: Error, connection: Connection): void {
    this.mustCloseConnection = this.isPreparing;
    this.parts.forEach(({ query }, index) => {
      if (index < this.current) query.handleReadyForQuery(connection);
      else query.handleError(error, connection);
    });
    this.callback(error);
  }

  handleEmptyQuery(): void {
    this.current += 1;
  }

  handlePortalSuspended(): void {
    throw new Error("a statement of a batch cannot limit its rows");
  }

  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail("COPY cannot run in a batch");
  }

  handleCopyData(): void {
    throw new Error("COPY cannot run in a batch");
  }

  private withoutSync(connection: Connection, wantsRows: boolean): unknown {
    return {
      stream: connection.stream,
      parsedStatements: connection.parsedStatements,
      submittedNamedStatements: connection.submittedNamedStatements,
      parse: (message: { readonly name?: string }) => {
        if (message.name !== undefined) this.isPreparing = true;
        connection.parse(message);
      },
      bind: (message: unknown) => {
        try {
          connection.bind(message);
        } catch (error) {
          this.unsendable = error instanceof Error ? error : new Error(String(error));
          throw error;
        }
      },
      describe: (message: unknown) => {
        if (wantsRows) connection.describe(message);
      },
      execute: (message: unknown) => {
        connection.execute(message);
      },
      close: (message: unknown) => {
        connection.close(message);
      },
      sync: () => undefined,
    };
  }
}

/**
 * Several statements in one message to the server and one message back.
 *
 * The driver ends every statement with a Sync, which makes the server answer it at once: six
 * statements are six packets back, each of which wakes this process while the server works on the
 * next, and on an idle machine waking costs more than the statements. Here only the last one is
 * followed by a Sync. After a failure the server skips the rest, which is what a transaction wants.
 *
 * Each statement is a query object of the driver's own, which is shown a connection that does not
 * sync; the answers are handed on to them one after the other.
 */
import type { Writable } from "node:stream";
import pg from "pg";
import type { QueryResult } from "pg";

export interface BatchedStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
  /** False: nobody reads its rows, so they are not even described. */
  readonly wantsRows: boolean;
  readonly resolve: (result: QueryResult) => void;
  readonly reject: (error: Error) => void;
}

/** What is used of the driver's inner parts; its types do not tell of them. */
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
  /** The driver puts its time limit round it. */
  callback: (error: Error | null) => void = () => undefined;
  /** Failed while statements were being prepared: which of them are is not known. */
  isSpoiled = false;

  private readonly parts: readonly Part[];
  /** The statement that the server is at. */
  private at = 0;
  private isPreparing = false;
  private unsendable: Error | undefined;

  constructor(statements: readonly BatchedStatement[], types: unknown) {
    this.parts = statements.map(({ text, values, name, wantsRows, resolve, reject }) => {
      // Not with a configuration: copying one takes the driver longer than all the rest.
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
        // Nothing has left yet, and nothing may: without this one the others are half of a change.
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
    this.parts[this.at]?.query.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    const part = this.parts[this.at];
    if (part?.wantsRows === true) part.query.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    const query = this.parts[this.at]?.query;
    if (query === undefined) return;
    if (query.name !== undefined) {
      connection.parsedStatements[query.name] = query.text;
      Reflect.deleteProperty(connection.submittedNamedStatements, query.name);
    }
    query.handleCommandComplete(message, connection);
    this.at += 1;
  }

  handleReadyForQuery(connection: Connection): void {
    for (const { query } of this.parts) query.handleReadyForQuery(connection);
    this.callback(null);
  }

  /** What was done before the failure keeps its answers, although nothing will come of it. */
  handleError(error: Error, connection: Connection): void {
    this.isSpoiled = this.isPreparing;
    this.parts.forEach(({ query }, index) => {
      if (index < this.at) query.handleReadyForQuery(connection);
      else query.handleError(error, connection);
    });
    this.callback(error);
  }

  handleEmptyQuery(): void {
    this.at += 1;
  }

  handlePortalSuspended(): void {
    throw new Error("no statement of a batch asks for some of its rows only");
  }

  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail("COPY is no part of a batch");
  }

  handleCopyData(): void {
    throw new Error("COPY is no part of a batch");
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

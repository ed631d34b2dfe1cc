import type { QueryResult } from "pg";
import { arrayLiteral } from "./array-literal.ts";

/** A row as it comes back; each query names the shape it selects. */
export type Row = object;

/** What repository functions take first: the database itself, or a transaction on it. */
export interface Queryable {
  /** A `name` prepares the statement once per connection; give it to the hot ones only. */
  query<R extends Row = Row>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<QueryResult<R>>;
}

/** A connection with an open transaction, so that a function can demand one. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
  /**
   * Sends a statement together with the next query or the commit, at no round trip of its own. If it
   * fails, that query or the commit rejects.
   */
  send(text: string, values?: readonly unknown[], name?: string): void;
  /**
   * `COPY … FROM STDIN` with these bytes; answers the number of rows. The work of a transaction may
   * run again, so the bytes must be there again too.
   */
  copyIn(text: string, bytes: AsyncIterable<Uint8Array>): Promise<number>;
  /** Runs the action when the commit is answered, in the order of registration. It must not throw. */
  afterCommit(action: () => void): void;
  /** Runs the action when this attempt is rolled back; another attempt may follow. It must not throw. */
  afterRollback(action: () => void): void;
}

/** Omits absent parts, because the driver treats an undefined name as a name. */
export function statement(text: string, values?: readonly unknown[], name?: string) {
  return {
    text,
    ...(values === undefined ? {} : { values: values.map(toParameter) }),
    ...(name === undefined ? {} : { name }),
  };
}

function toParameter(value: unknown): unknown {
  return Array.isArray(value) ? (arrayLiteral(value) ?? value) : value;
}

import type { QueryResult } from "pg";
import { arrayLiteral } from "./array-literal.ts";

/** A row of a result; each query names the columns that it selects. */
export type Row = object;

/** The first parameter of repository functions: the database itself, or a transaction on it. */
export interface Queryable {
  /** A `name` prepares the statement once per connection: name only statements that run often. */
  query<R extends Row = Row>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<QueryResult<R>>;
}

/** A connection with an open transaction: functions that must run in one take this type. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
  /**
   * Sends a statement together with the next query or the commit, at no round trip of its own. If it
   * fails, that query or the commit rejects.
   */
  send(text: string, values?: readonly unknown[], name?: string): void;
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

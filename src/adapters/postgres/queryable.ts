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

/** Marks a connection with an open transaction, so that a function can demand one. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
  /**
   * A statement whose answer nobody needs: it leaves with the next query or the commit, whose failure
   * its failure is, and costs no round trip.
   */
  send(text: string, values?: readonly unknown[], name?: string): void;
  /**
   * `COPY … FROM STDIN` with these bytes; answers the number of rows. The work of a transaction may
   * run again, so the bytes must be there again too.
   */
  copyIn(text: string, bytes: AsyncIterable<Uint8Array>): Promise<number>;
}

/** Leaves out what was not given: the driver treats an undefined name as a name. */
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

import type pg from "pg";
import { isReadTimeout } from "./outage.ts";
import type { Row, statement } from "./queryable.ts";

export interface Flushing<R extends Row> {
  readonly result: pg.QueryResult<R>;
  /** Resolves when the statement's commit is on disk; rejects where that is not certain. */
  readonly flushed: Promise<void>;
}

/**
 * A commit waits until the write-ahead log is on disk up to its own record, and so for all commits before
 * it. This one writes nothing but a record that no program reads.
 */
const flush = {
  name: "flush",
  text: "SELECT pg_logical_emit_message(true, 'rmhdag', '')",
};

/**
 * Runs a statement that turns `synchronous_commit` off for itself, and after it a commit that waits. Both use
 * one connection: a server that crashed in between, and lost the first commit, cannot answer the second.
 */
export async function queryThenFlush<R extends Row>(
  pool: pg.Pool,
  wanted: ReturnType<typeof statement>,
): Promise<Flushing<R>> {
  const client = await pool.connect();
  let lost: Error | undefined;
  const onError = (error: Error) => (lost = error);
  client.on("error", onError);

  function release(): void {
    client.off("error", onError);
    client.release(lost);
  }
  function noteTimeout(error: unknown): void {
    if (isReadTimeout(error)) lost ??= error as Error;
  }

  try {
    const result = await client.query<R>(wanted);
    const flushed = client.query(flush).then(() => undefined);
    flushed.catch(noteTimeout).finally(release);
    return { result, flushed };
  } catch (error) {
    noteTimeout(error);
    release();
    throw error;
  }
}

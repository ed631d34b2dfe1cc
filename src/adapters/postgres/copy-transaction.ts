/**
 * Runs a transaction that loads rows with COPY.
 *
 * COPY takes over its connection until the last byte is sent, which a connection in pipeline mode
 * refuses. So these transactions have a pool of their own, whose connections are not in that mode, and
 * each of their statements is awaited before the next is sent.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { isReadTimeout } from "./outage.ts";
import { statement } from "./queryable.ts";
import type { Queryable } from "./queryable.ts";
import { retryConflicts } from "./transaction.ts";

export interface CopyTransaction extends Queryable {
  /**
   * Runs `COPY … FROM STDIN` with these bytes and answers the number of rows. The work of a
   * transaction may run again, so each run must be able to read the bytes from the start.
   */
  copyIn(text: string, bytes: AsyncIterable<Uint8Array>): Promise<number>;
}

export async function runCopyTransaction<T>(
  pool: pg.Pool,
  work: (tx: CopyTransaction) => Promise<T>,
): Promise<T> {
  return retryConflicts(() => runOnce(pool, work));
}

async function runOnce<T>(pool: pg.Pool, work: (tx: CopyTransaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let lost: Error | undefined;
  // A lost connection is an event of the client; without a listener it would end the process.
  const onError = (error: Error) => (lost = error);
  client.on("error", onError);
  try {
    await client.query("BEGIN");
    const result = await work({
      query: (text, values, name) => client.query(statement(text, values, name)),
      async copyIn(text, bytes) {
        const copy = client.query(copyFrom(text));
        await pipeline(Readable.from(bytes), copy);
        return copy.rowCount;
      },
    });
    if ((await client.query("COMMIT")).command !== "COMMIT") {
      throw new Error("The transaction was rolled back: a statement in it failed.");
    }
    return result;
  } catch (error) {
    // A connection that did not answer would not answer ROLLBACK either: closing it rolls back.
    if (isReadTimeout(error)) lost ??= error as Error;
    else {
      await client.query("ROLLBACK").catch((failure: unknown) => {
        lost ??= failure instanceof Error ? failure : new Error(String(failure));
      });
    }
    throw error;
  } finally {
    client.off("error", onError);
    client.release(lost);
  }
}

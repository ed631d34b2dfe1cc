import type { HandedMessage } from "../../../core/link.ts";
import type { Queryable, Transaction } from "../../postgres/queryable.ts";
import type { OutMessage } from "../broker.ts";
import { messageColumns } from "./columns.ts";
import type { Fetched } from "./fetch.ts";

/**
 * Born leased: a message that goes straight to somebody who waits for it is never ready, and nobody
 * is notified. From here on it is a lease like any other: it is renewed, withdrawn, and returned
 * when its holder is silent.
 */
const publishHeldText = `
INSERT INTO dagapp.dag_queue_leases (${messageColumns}, holder, until)
SELECT nextval('dagapp.dag_queue_ready_message_id_seq'), $1, priority, 1, 0, key, group_key,
  headers::jsonb, body, now(), holder, now() + interval '1 ms' *
    coalesce((SELECT lease_ms FROM dagapp.dag_queues WHERE queue = $1), 30000)
FROM unnest($2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[])
  AS t(key, priority, group_key, headers, body, holder)
RETURNING message_id, message_key, leased_at::text`;

/** Answers when the transaction's statements are answered; the messages are safe when it commits. */
export async function publishHeld(
  tx: Transaction,
  queue: string,
  messages: readonly OutMessage[],
  holders: readonly string[],
): Promise<readonly HandedMessage[]> {
  const { rows } = await tx.query<Pick<HandedMessage, "message_id" | "message_key" | "leased_at">>(
    publishHeldText,
    [
      queue,
      messages.map(({ id }) => id),
      messages.map(({ priority = 0 }) => priority),
      messages.map(({ group = null }) => group),
      messages.map(({ headers }) => (headers === undefined ? null : JSON.stringify(headers))),
      messages.map(({ body }) => body),
      holders,
    ],
    "dag_queue_publish_held",
  );
  const leased = new Map(rows.map((row) => [row.message_key, row]));
  return messages.map(({ id, priority = 0, headers = null, body }) => {
    const row = leased.get(id);
    if (row === undefined) throw new Error(`${id} was not published`);
    return { ...row, priority, deliveries: 1, handed_back: 0, headers, body };
  });
}

/** What is leased to a holder that has not heard of it: its link broke before it was told. */
export async function fetchUnheard(
  db: Queryable,
  queue: string,
  holder: string,
  heard: readonly number[],
): Promise<readonly Fetched[]> {
  const { rows } = await db.query<Fetched>(
    `SELECT message_id, priority, deliveries, handed_back, message_key, headers, body,
       leased_at::text
     FROM dagapp.dag_queue_leases
     WHERE holder = $1 AND queue = $2 AND NOT cancelled AND NOT message_id = ANY ($3::bigint[])
     ORDER BY priority DESC, message_id`,
    [holder, queue, heard],
  );
  return rows;
}

import { reach } from "../../../runtime/fail-points.ts";
import type { Transaction } from "../../../postgres/queryable.ts";
import { rowStatement } from "../../../postgres/row-statement.ts";
import type { OutMessage } from "../../broker.ts";
import { handlerHeader } from "../../broker.ts";
import type { LeasedMessage } from "../sql/message-columns.ts";
import { messageColumns } from "../sql/message-columns.ts";
import { headersColumn } from "../sql/publish.ts";
import type { PushConnections } from "./connections.ts";

interface NewLease {
  readonly message: OutMessage;
  readonly headers: string | null;
  readonly holder: string;
}

/**
 * Inserts messages as leases: a message that goes to a waiting worker is never ready, and no
 * consumer is notified. From here on it is a lease like any other: renewed, withdrawn, and returned
 * to its queue when the worker stops renewing.
 */
const insertLeasesStatement = rowStatement<NewLease>(
  "dag_queue_push",
  {
    key: ["text", ({ message }) => message.id],
    priority: ["smallint", ({ message: { priority = 0 } }) => priority],
    group_key: ["text", ({ message: { group = null } }) => group],
    headers: ["text", (lease) => lease.headers],
    body: ["json", ({ message }) => message.body],
    holder: ["text", (lease) => lease.holder],
  },
  (rows, other) => `
INSERT INTO dagapp.dag_queue_leases (${messageColumns}, holder, until)
SELECT nextval('dagapp.dag_queue_ready_message_id_seq'), ${other(0)}, priority, 1, 0, 0, key, group_key,
  headers::jsonb, body, now(), holder, now() + interval '1 ms' *
    coalesce((SELECT lease_ms FROM dagapp.dag_queues WHERE queue = ${other(0)}), 30000)
FROM ${rows("t")}
RETURNING message_id, message_key, leased_at::text`,
);

/**
 * Leases as many messages as connected workers have credit for, the most urgent first, and pushes
 * them after the commit. Answers the messages that no worker takes: they belong in the queue.
 */
export function pushMessages(
  connections: PushConnections,
  tx: Transaction,
  queue: string,
  messages: readonly OutMessage[],
): readonly OutMessage[] {
  const shared = messages.filter((message) => message.alone !== true);
  const handlers = new Set<string>();
  for (const { headers } of shared) {
    const handler = headers?.[handlerHeader];
    if (typeof handler === "string") handlers.add(handler);
  }
  const reserved = connections.reserve(queue, shared.length, handlers);
  const holders = reserved.flatMap(({ connection, count }) =>
    Array.from({ length: count }, () => connection.workerId),
  );
  if (holders.length === 0) return messages;
  const ordered =
    holders.length < shared.length
      ? shared.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))
      : shared;
  const leased = insertLeases(tx, queue, ordered.slice(0, holders.length), holders);
  // Ignored here: the commit rejects with the same error.
  leased.catch(() => undefined);
  tx.afterRollback(() => {
    connections.unreserve(queue, reserved);
  });
  tx.afterCommit(() => {
    reach("push.before_send");
    void leased.then((written) => {
      let from = 0;
      for (const { connection, count } of reserved) {
        connections.push(queue, connection, written.slice(from, from + count));
        from += count;
      }
    });
  });
  const alone = messages.filter((message) => message.alone === true);
  return [...ordered.slice(holders.length), ...alone];
}

async function insertLeases(
  tx: Transaction,
  queue: string,
  messages: readonly OutMessage[],
  holders: readonly string[],
): Promise<readonly LeasedMessage[]> {
  const headers = headersColumn(messages);
  const leases = messages.map((message, index) => ({
    message,
    headers: headers[index] ?? null,
    holder: holders[index] ?? "",
  }));
  const { text, values, name } = insertLeasesStatement(leases, [queue]);
  const { rows } = await tx.query<Pick<LeasedMessage, "message_id" | "message_key" | "leased_at">>(
    text,
    values,
    name,
  );
  const byKey = new Map(rows.map((row) => [row.message_key, row]));
  return messages.map(({ id, priority = 0, headers = null, body }) => {
    const row = byKey.get(id);
    if (row === undefined) throw new Error(`message ${id} was not written`);
    return { ...row, priority, deliveries: 1, released: 0, lost: 0, headers, body };
  });
}

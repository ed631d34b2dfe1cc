/**
 * A worker's push connections: one to every orchestrator whose push server it finds in the database
 * and can reach. Each may push as many messages as it has credit for, and takes reports. Without a
 * connection everything goes through the database.
 */
import { hostname } from "node:os";
import { pushServersChannel } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import type { Listen } from "../../../postgres/share-listener.ts";
import type { Logger } from "../../../runtime/logger.ts";
import { createService } from "../../../runtime/service.ts";
import type { Settled } from "../../broker.ts";
import type { LeasedMessage } from "../sql/message-columns.ts";
import type { ClientConnection } from "./connection.ts";
import { openConnection } from "./connection.ts";
import { isLoopback } from "./protocol.ts";
import type { SentReport } from "./protocol.ts";

export interface PushClient {
  /** Lets servers push messages of this queue to the consumer. */
  attach(queue: string, consumer: PushConsumer): PushAttachment;
  /**
   * Pushes a report to the server that pushed its message. Undefined: there is no connection for it.
   * `again`: the report may or may not be recorded; the caller writes it to the database.
   */
  report(report: SentReport, pushedBy: object | undefined): Promise<Settled | "again"> | undefined;
  /** Tells all servers which handlers' messages this worker takes now. */
  announce(): void;
  close(): Promise<void>;
}

export interface PushConsumer {
  /** How many messages it takes now: none while its queue may hold older ones. */
  room(): number;
  take(messages: readonly LeasedMessage[], pushedBy: object): void;
  /** Takes the messages that are leased to this process and never arrived: their server is gone. */
  reclaim(): Promise<void>;
}

export interface PushAttachment {
  /** The consumer's room has changed. */
  changed(): void;
  /** Resolves when no server pushes messages of the queue any more. */
  close(): Promise<void>;
}

export interface PushClientOptions {
  readonly db: Queryable;
  readonly listen: Listen;
  readonly workerId: string;
  /** The handlers whose messages this worker takes. */
  readonly accepts?: (() => readonly string[]) | undefined;
  readonly log: Logger;
}

const lookEveryMs = 10_000;

interface ServerRow {
  readonly holder: string;
  readonly host: string;
  readonly address: string;
  readonly key: string;
}

async function findServers(db: Queryable): Promise<readonly ServerRow[]> {
  const { rows } = await db.query<ServerRow>(
    `SELECT holder, host, address, key FROM dagapp.dag_push_servers
     WHERE seen_at > now() - interval '2 minutes'`,
  );
  return rows;
}

/** A loopback address is only within reach on its own machine. */
function isReachable({ host, address }: ServerRow): boolean {
  const name = address.slice(0, address.lastIndexOf(":"));
  return host === hostname() || (name !== "localhost" && !isLoopback(name));
}

export function createPushClient(options: PushClientOptions): PushClient {
  const { db, listen, workerId, accepts, log } = options;
  const connections = new Map<string, ClientConnection>();
  const consumers = new Map<string, PushConsumer>();
  let isClosing = false;

  const looking = createService({
    name: "push client",
    log,
    intervalMs: lookEveryMs,
    runOnce: look,
  });
  const listening = listen([pushServersChannel], () => {
    looking.wake();
  });
  looking.start();

  async function look(): Promise<void> {
    for (const row of await findServers(db)) {
      if (!connections.has(row.holder) && !isClosing && isReachable(row)) open(row);
    }
  }

  function open({ holder, address, key }: ServerRow): void {
    const connection: ClientConnection = openConnection(
      { address, key, workerId },
      {
        onOpen: () => {
          log.debug({ orchestrator: holder }, "opened a push connection");
          // Must come before the credit, which lets the server push.
          if (accepts !== undefined) connection.announce(accepts());
          addCreditForAll();
        },
        onMessages: (queue, messages) => {
          consumers.get(queue)?.take(messages, connection);
        },
        onClose: (reason, wasOpen) => {
          connections.delete(holder);
          log.debug({ orchestrator: holder, reason }, "the push connection is closed");
          if (wasOpen) void reclaimAll();
        },
      },
    );
    connections.set(holder, connection);
  }

  /** A server may have leased messages to this worker and died before it sent them. */
  async function reclaimAll(): Promise<void> {
    if (isClosing) return;
    for (const consumer of consumers.values()) {
      await consumer.reclaim().catch((err: unknown) => {
        log.warn({ err }, "pushed messages were not reclaimed; their leases will expire");
      });
    }
    addCreditForAll();
  }

  function addCreditForAll(): void {
    for (const queue of consumers.keys()) addCredit(queue);
  }

  /** Each server gets its part of the room; it is topped up when half of it is used. */
  function addCredit(queue: string): void {
    const room = isClosing ? 0 : (consumers.get(queue)?.room() ?? 0);
    // Asked after every task: most have left no room.
    if (room === 0) return;
    const open = openConnections();
    open.forEach((connection, index) => {
      const part = Math.floor((room + open.length - 1 - index) / open.length);
      const credit = connection.credit(queue);
      if (part > 0 && credit <= part / 2) connection.addCredit(queue, part - credit);
    });
  }

  function openConnections(): readonly ClientConnection[] {
    return [...connections.values()].filter((connection) => connection.isOpen());
  }

  return {
    attach(queue, consumer) {
      consumers.set(queue, consumer);
      addCredit(queue);
      return {
        changed: () => {
          addCredit(queue);
        },
        close: async () => {
          await Promise.all(openConnections().map((connection) => connection.stop(queue)));
          consumers.delete(queue);
        },
      };
    },
    report(report, pushedBy) {
      let open = 0;
      let last: ClientConnection | undefined;
      for (const connection of connections.values()) {
        if (!connection.isOpen()) continue;
        if (connection === pushedBy) return connection.report(report);
        open += 1;
        last = connection;
      }
      // A message from the queue does not name the owner of its job, unless there is only one.
      return open === 1 ? last?.report(report) : undefined;
    },
    announce() {
      if (accepts === undefined) return;
      for (const connection of openConnections()) connection.announce(accepts());
    },
    async close() {
      isClosing = true;
      await listening.close();
      await looking.stop();
      for (const connection of connections.values()) connection.close("the worker stops");
    },
  };
}

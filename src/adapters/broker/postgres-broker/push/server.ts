/** Accepts push connections of workers, and names its address in the database while it is open. */
import { randomBytes } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import { hostname } from "node:os";
import { pushServersChannel } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import type { Logger } from "../../../runtime/logger.ts";
import { createService } from "../../../runtime/service.ts";
import { release } from "../sql/settle.ts";
import type { Connection } from "./connections.ts";
import { PushConnections } from "./connections.ts";
import type { FromServer } from "./protocol.ts";
import { createPushListener } from "./accept.ts";
import { fromClient } from "./protocol.ts";

export interface PushServerOptions {
  readonly db: Queryable;
  /** The process, as workers name the server in their logs. */
  readonly holder: string;
  /** Loopback serves workers of this machine only. */
  readonly host: string;
  readonly port: number;
  readonly log: Logger;
}

export interface PushServer {
  readonly address: string;
  readonly connections: PushConnections;
  close(): Promise<void>;
}

/** How often the row in the database is renewed; workers ignore rows of over two minutes. */
const registerEveryMs = 30_000;
/** A worker that leaves so many bytes unread is treated as gone. */
const maxUnreadBytes = 64 * 1024 * 1024;

export async function startPushServer({
  db,
  holder,
  host,
  port,
  log,
}: PushServerOptions): Promise<PushServer> {
  const connections = new PushConnections((leases) => {
    release(db, leases).catch((err: unknown) => {
      log.warn({ err, messages: leases.length }, "messages were not released; they will expire");
    });
  });
  const key = randomBytes(32);
  const sockets = new Set<Socket>();
  const onWorker = (socket: Socket, workerId: string) => serve(socket, workerId, connections, log);
  const server = createPushListener({ host, key, log, onWorker });
  // Connections without a proof yet count too: the server would wait for them when it closes.
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  const isAnywhere = host === "0.0.0.0" || host === "::";
  const address = `${isAnywhere ? hostname() : host}:${actual}`;
  await register(db, holder, address, key.toString("hex"));
  await db.query(`SELECT pg_notify($1, '')`, [pushServersChannel]);
  const registering = createService({
    name: "push server",
    log,
    intervalMs: registerEveryMs,
    runOnce: () => register(db, holder, address, key.toString("hex")),
  });
  registering.start();
  return {
    address,
    connections,
    async close() {
      await registering.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      // A row that stays is ignored after two minutes.
      await db
        .query(`DELETE FROM dagapp.dag_push_servers WHERE holder = $1`, [holder])
        .catch(() => undefined);
    },
  };
}

async function register(db: Queryable, holder: string, address: string, key: string) {
  await db.query(
    `WITH old AS (
       DELETE FROM dagapp.dag_push_servers WHERE seen_at < now() - interval '10 minutes')
     INSERT INTO dagapp.dag_push_servers (holder, host, address, key) VALUES ($1, $2, $3, $4)
     ON CONFLICT (holder) DO UPDATE SET host = excluded.host, address = excluded.address,
       key = excluded.key, seen_at = now()`,
    [holder, hostname(), address, key],
  );
}

/** Answers what takes the lines of a worker. */
function serve(
  socket: Socket,
  workerId: string,
  connections: PushConnections,
  log: Logger,
): (line: string) => void {
  let outgoing = "";
  // Lines of one turn of the event loop, such as the answer to a report and the next task, are one
  // write: they wake the worker once.
  const flush = (): void => {
    if (!socket.destroyed) socket.write(outgoing);
    outgoing = "";
  };
  const send = (line: FromServer): boolean => {
    if (socket.destroyed || socket.writableLength > maxUnreadBytes) return false;
    if (outgoing === "") process.nextTick(flush);
    outgoing += `${JSON.stringify(line)}\n`;
    return true;
  };
  const connection: Connection = { workerId, credit: new Map(), send };
  connections.add(connection);
  log.debug({ worker: workerId }, "a worker has opened a push connection");
  socket.once("close", () => {
    connections.remove(connection);
  });
  return (line) => {
    if (!socket.destroyed) connections.receive(connection, fromClient.parse(JSON.parse(line)));
  };
}

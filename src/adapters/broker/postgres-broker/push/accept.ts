/** Accepts connections of workers; each has proved that it knows the key, and so has this server. */
import type { Server, Socket } from "node:net";
import { createServer as createPlainServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Logger } from "../../../runtime/logger.ts";
import { maxProofLength, proveAsServer } from "./prove-key.ts";
import { createLineReader, fromIdentity, isLoopback, tlsOptions } from "./protocol.ts";

export interface AcceptOptions {
  readonly host: string;
  readonly key: Buffer;
  readonly log: Logger;
  /** Called for a worker that has proved itself; answers what takes its lines. */
  readonly onWorker: (socket: Socket, workerId: string) => (line: string) => void;
}

const handshakeTimeoutMs = 5000;
const maxLineLength = 64 * 1024 * 1024;

/** Loopback is served without encryption, because only the two ends can read or write there. */
export function createPushListener(options: AcceptOptions): Server {
  return isLoopback(options.host) ? acceptWithinMachine(options) : acceptEncrypted(options);
}

function acceptWithinMachine({ key, log, onWorker }: AcceptOptions): Server {
  return createPlainServer((socket) => {
    const timer = setTimeout(() => {
      refuse(socket, log, new Error("no proof came in time"));
    }, handshakeTimeoutMs);
    socket.once("close", () => {
      clearTimeout(timer);
    });
    let server: ReturnType<typeof proveAsServer> | undefined;
    let take: ((line: string) => void) | undefined;
    const read = createLineReader((line) => {
      if (take !== undefined) take(line);
      else if (server === undefined) {
        server = proveAsServer(key, line);
        socket.write(`${server.answer}\n`);
      } else {
        server.check(line);
        clearTimeout(timer);
        take = onWorker(socket, server.worker);
      }
    });
    readLines(socket, log, read, () => (take === undefined ? maxProofLength : maxLineLength));
  });
}

function acceptEncrypted({ key, log, onWorker }: AcceptOptions): Server {
  const workers = new WeakMap<object, string>();
  const server = createTlsServer({
    ...tlsOptions,
    handshakeTimeout: handshakeTimeoutMs,
    pskCallback(socket, identity) {
      workers.set(socket, fromIdentity(identity));
      return key;
    },
  });
  server.on("secureConnection", (socket) => {
    const read = createLineReader(onWorker(socket, workers.get(socket) ?? ""));
    readLines(socket, log, read, () => maxLineLength);
  });
  server.on("tlsClientError", (err) => {
    log.warn({ err }, "refused a push connection that does not know the key");
  });
  return server;
}

function readLines(
  socket: Socket,
  log: Logger,
  read: (piece: string) => number,
  maxLength: () => number,
): void {
  socket.setNoDelay(true);
  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    try {
      if (!socket.destroyed && read(piece) > maxLength()) throw new Error("a line is too long");
    } catch (err) {
      refuse(socket, log, err);
    }
  });
  socket.on("error", (err) => {
    log.debug({ err }, "a push connection broke");
  });
}

function refuse(socket: Socket, log: Logger, err: unknown): void {
  log.warn({ err }, "closed a push connection that sent no proof of the key, or no line of ours");
  socket.destroy();
}

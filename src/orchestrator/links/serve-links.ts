/**
 * The door for workers: a port of its own, for whoever knows the key that is in the database. What is
 * said there is not encrypted, so by default it is open to this machine only.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { hostname } from "node:os";
import { isProof } from "../../adapters/net/link-proof.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import type { FromOrchestrator } from "../../core/link.ts";
import { createLineReader, fromWorker, hello } from "../../core/link.ts";
import type { Link, Links } from "./links.ts";

export interface LinkServer {
  /** What a worker needs to come in. */
  readonly address: string;
  readonly key: string;
  close(): Promise<void>;
}

const helloWithinMs = 5000;
/** A worker that reads nothing while so much waits for it is gone. */
const mostWaiting = 64 * 1024 * 1024;
const longestHello = 1024;
const longestLine = 64 * 1024 * 1024;

export async function serveLinks(
  { host, port }: { readonly host: string; readonly port: number },
  links: Links,
  log: Logger,
): Promise<LinkServer> {
  const key = randomBytes(32).toString("hex");
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    receive(socket, key, links, log);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  const isAnywhere = host === "0.0.0.0" || host === "::";
  return {
    address: `${isAnywhere ? hostname() : host}:${actual}`,
    key,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function receive(socket: Socket, key: string, links: Links, log: Logger): void {
  const nonce = randomBytes(16).toString("hex");
  let link: Link | undefined;
  socket.setNoDelay(true);
  socket.setEncoding("utf8");
  const say = (line: FromOrchestrator): boolean => {
    if (socket.destroyed || socket.writableLength > mostWaiting) return false;
    socket.write(`${JSON.stringify(line)}\n`);
    return true;
  };
  const late = setTimeout(() => socket.destroy(), helloWithinMs);
  const read = createLineReader((line) => {
    if (socket.destroyed) return;
    const value: unknown = JSON.parse(line);
    if (link !== undefined) {
      links.hear(link, fromWorker.parse(value));
      return;
    }
    const { worker, proof } = hello.parse(value);
    if (!isProof(proof, key, nonce)) throw new Error("a worker that does not know the key");
    clearTimeout(late);
    link = { workerId: worker, granted: new Map(), send: say };
    links.add(link);
    log.debug({ worker }, "a worker is linked");
  });
  socket.on("data", (piece: string) => {
    try {
      const unfinished = read(piece);
      if (unfinished > (link === undefined ? longestHello : longestLine)) {
        throw new Error("a line without an end");
      }
    } catch (err) {
      log.warn({ err, worker: link?.workerId }, "a link is closed: what came is not understood");
      socket.destroy();
    }
  });
  socket.on("error", (err) => {
    log.debug({ err, worker: link?.workerId }, "a link broke");
  });
  socket.once("close", () => {
    clearTimeout(late);
    if (link !== undefined) links.remove(link);
  });
  say({ nonce });
}

/**
 * A worker's own port, for probes of the machine that hosts it: `/livez` while the process runs,
 * `/readyz` and `/health` by its connection to the database. `/metrics` and names of queues and tasks
 * are shown on loopback, or to callers with the service token.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface WorkerHealth {
  readonly worker_id: string;
  readonly version: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly busy: () => number;
  /** Rejects if the worker cannot reach what it takes its tasks from. */
  readonly check: () => Promise<unknown>;
  readonly token: string | undefined;
  /** In the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

const checkMs = 3000;

export async function serveHealth(
  worker: WorkerHealth,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    void answer(worker, request).then(({ status, body }) => {
      if (typeof body === "string") {
        response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body);
        return;
      }
      response.writeHead(status, {
        "content-type": status < 400 ? "application/json" : "application/problem+json",
        "cache-control": "no-store",
      });
      response.end(request.method === "HEAD" ? undefined : `${JSON.stringify(body)}\n`);
    });
  });
  server.requestTimeout = 10_000;
  server.headersTimeout = 5000;
  server.maxConnections = 100;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

async function answer(
  worker: WorkerHealth,
  request: IncomingMessage,
): Promise<{ status: number; body: object | string }> {
  const path = (request.url ?? "").split("?")[0];
  if (request.method !== "GET" && request.method !== "HEAD") {
    return problem(405, "METHOD_NOT_ALLOWED", "Only GET is answered here.");
  }
  if (path === "/livez") return { status: 200, body: { status: "ok" } };
  if (path === "/metrics") {
    if (mayRead(worker, request)) return { status: 200, body: await worker.metrics() };
    return problem(401, "UNAUTHENTICATED", "Send the service token as a bearer token.");
  }
  if (path !== "/health" && path !== "/readyz") {
    return problem(404, "NOT_FOUND", "A worker answers /livez, /readyz, /health and /metrics.");
  }
  const isWell = await Promise.race([
    worker.check().then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => {
      setTimeout(resolve, checkMs, false).unref();
    }),
  ]);
  const { worker_id, version, queues, slots } = worker;
  const details = mayRead(worker, request)
    ? { worker_id, queues, slots, busy: worker.busy() }
    : undefined;
  const status = isWell ? (path === "/readyz" ? "ready" : "ok") : "down";
  return { status: isWell ? 200 : 503, body: { status, version, ...details } };
}

function mayRead({ token }: WorkerHealth, { headers, socket }: IncomingMessage): boolean {
  const isLocal = /^(?:127\.|::1$|::ffff:127\.)/.test(socket.remoteAddress ?? "");
  const isForwarded = headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined;
  if (isLocal && !isForwarded) return true;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (token === undefined || given === undefined) return false;
  return timingSafeEqual(digest(token), digest(given));
}

function problem(status: number, code: string, detail: string) {
  return { status, body: { type: "about:blank", status, code, title: detail, detail } };
}

/**
 * The HTTP server: contracts and handlers in, routes out. The only file that knows which library
 * serves them. Every request passes the same steps: request id, who calls, may they, parse, handle;
 * and whatever goes wrong in any of them is answered as problem+json.
 */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import websocket from "@fastify/websocket";
import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { AccessPolicy } from "./access.ts";
import { demandAccess, identify, isLoopback } from "./access.ts";
import { allowedMethods } from "./allowed-methods.ts";
import { checkAnswer } from "./check-answer.ts";
import { writeEvents } from "./event-stream.ts";
import type { ApiRequest, Caller, HttpLog } from "./handler.ts";
import { Answer } from "./handler.ts";
import { parseBody } from "./parse-body.ts";
import { parseRequest } from "./parse-request.ts";
import type { Patience } from "./patience.ts";
import { limitsOf } from "./patience.ts";
import { problemBody, problemMedia, toProblem } from "./problem.ts";
import { redactUrl } from "./redact.ts";
import { namedRest, toRoute } from "./route-path.ts";
import { sendMessages } from "./socket-stream.ts";

export interface ServerOptions {
  readonly contracts: readonly Contract[];
  /** By contract id. */
  readonly handlers: object;
  readonly access: AccessPolicy;
  readonly log: HttpLog;
  readonly bodyLimitBytes?: number;
  /** Asked for every request that somebody known makes; refuses by throwing a Problem. */
  readonly admit?: (caller: Caller, contract: Contract) => void;
  /** For servers that strangers reach: how long they may take to say what they want. */
  readonly patience?: Patience;
  readonly onAnswered?: (timing: Timing) => void;
  /** Refuse to send an answer that its contract does not allow. For tests: it costs time. */
  readonly checkAnswers?: boolean;
}

export interface Timing {
  readonly method: string;
  /** The contract's path, never the address: that would make a series of every job. */
  readonly path: string;
  readonly status: number;
  readonly seconds: number;
}

export interface HttpServer {
  readonly inject: FastifyInstance["inject"];
  listen(options: { host: string; port: number }): Promise<{ url: string }>;
  /** Ends the live streams, lets requests finish, and closes. */
  close(): Promise<void>;
}

type AnyHandler = (request: ApiRequest<Contract>) => Promise<unknown>;

const headers = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

export async function buildServer(options: ServerOptions): Promise<HttpServer> {
  const { contracts, handlers, log } = options;
  const callers = new WeakMap<FastifyRequest, Caller>();
  const prepared = new WeakMap<FastifyRequest, Prepared>();
  const streams = new Set<AbortController>();

  const app = fastify({
    logger: false,
    bodyLimit: options.bodyLimitBytes ?? 8 * 1024 * 1024,
    routerOptions: { maxParamLength: 256 },
    requestIdHeader: false,
    schemaController: { compilersFactory: noSchemas },
    genReqId: (raw) => {
      const given = raw.headers["x-request-id"];
      return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
    },
    frameworkErrors: (error, request, reply) => {
      fail(error, request, reply);
    },
    clientErrorHandler: ({ code }, socket) => {
      const status = code === tooSlow ? "408 Request Timeout" : "400 Bad Request";
      if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    },
    ...limitsOf(options.patience),
  });
  if (options.patience !== undefined) app.server.maxConnections = options.patience.mostConnections;
  const inFlight = new Set<ServerResponse>();
  app.server.on("request", (_request, response) => {
    inFlight.add(response);
    response.once("close", () => inFlight.delete(response));
  });
  await app.register(websocket, { options: { maxPayload: 1024 } });
  acceptJsonOnly(app);

  const methodsAt = allowedMethods(contracts);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ ...headers, "x-request-id": request.id });
    const allow = request.is404 ? methodsAt(request.url.split("?", 1)[0] ?? "") : undefined;
    if (allow === undefined) return;
    // Here, so that no body is read to be refused.
    reply.header("allow", allow);
    throw new Problem("METHOD_NOT_ALLOWED", `Use ${allow} here.`);
  });
  app.addHook("onResponse", async (request, reply) => {
    const path = request.routeOptions.url?.replaceAll(/:(\w+)/g, "{$1}") ?? "unknown";
    const seconds = reply.elapsedTime / 1000;
    const { method } = request;
    options.onAnswered?.({ method, path, status: reply.statusCode, seconds });
    const caller = callers.get(request)?.name;
    const url = redactUrl(request.url);
    const fields = {
      request_id: request.id,
      method,
      url,
      status: reply.statusCode,
      seconds,
      caller,
    };
    log.debug(fields, "answered");
  });
  app.addHook("preClose", async () => {
    for (const stream of streams) stream.abort();
  });
  app.setErrorHandler((error, request, reply) => {
    fail(error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "";
    fail(new Problem("NOT_FOUND", `There is nothing at ${path}.`), request, reply);
  });

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const known = toProblem(error);
    if (known === undefined || known.status >= 500) {
      const fields = { request_id: request.id, url: redactUrl(request.url), err: error };
      log.error(fields, "a request failed");
    }
    const problem =
      known ??
      new Problem("INTERNAL", `This is our mistake. Tell us the request id ${request.id}.`);
    reply.headers({ ...headers, ...problem.headers, "x-request-id": request.id });
    if (problem.code === "UNAUTHENTICATED") reply.header("www-authenticate", "Bearer");
    const retryAfter = problem.retryAfterSeconds ?? (problem.status === 503 ? 2 : undefined);
    if (retryAfter !== undefined) reply.header("retry-after", String(retryAfter));
    void reply.code(problem.status).type(problemMedia).send(problemBody(problem, request.id));
  }

  async function authorise(contract: Contract, request: FastifyRequest): Promise<void> {
    if (contract.access === "public" && options.access.anonymousOnPublic === true) return;
    const caller = await identify(options.access, {
      authorization: request.headers.authorization,
      cookie: request.headers.cookie,
      host: request.headers.host,
      origin: request.headers.origin,
      remoteAddress: request.socket.remoteAddress,
      forwardedFor: [request.headers["x-forwarded-for"]].flat().join(","),
      forwarded: "x-forwarded-for" in request.headers || "forwarded" in request.headers,
      changes: contract.method !== "GET" || contract.stream === "socket",
      header: headerOf(request),
    });
    if (caller !== undefined) {
      callers.set(request, caller);
      options.admit?.(caller, contract);
    }
    demandAccess(contract.access, caller);
  }

  async function run(contract: Contract, request: FastifyRequest, signal: AbortSignal) {
    const handler = Object.hasOwn(handlers, contract.id)
      ? (handlers as Record<string, AnyHandler>)[contract.id]
      : undefined;
    if (handler === undefined) throw new Error(`${contract.id} has no handler`);
    const { params, query, body } = parseRequest(contract, {
      params: namedRest(contract, request.params),
      query: contract.stream === undefined ? request.query : resumed(request),
      body: request.body,
    });
    const caller = callers.get(request);
    const header = headerOf(request);
    const { id: requestId, method } = request;
    const parsed = { params, query, body, caller, requestId, method, header, signal };
    return handler(parsed as ApiRequest<Contract>);
  }

  async function answer(contract: Contract, request: FastifyRequest, reply: FastifyReply) {
    const gone = new AbortController();
    reply.raw.once("close", () => {
      gone.abort(goneAway);
    });
    const result = await run(contract, request, gone.signal);
    const given = result instanceof Answer ? result : new Answer(result);
    if (contract.stream === "events" && given.status === undefined) {
      reply.hijack();
      streams.add(gone);
      const sent = { ...headers, "x-request-id": request.id };
      await writeEvents(reply.raw, sent, given.body as AsyncIterable<unknown>, gone.signal)
        .catch((error: unknown) => {
          if (!gone.signal.aborted)
            log.error({ request_id: request.id, err: error }, "a stream failed");
        })
        .finally(() => streams.delete(gone));
      return;
    }
    const status = given.status ?? contract.status ?? 200;
    reply.code(status);
    if (status === 204 || status === 304) return reply.headers(given.headers).send();
    if (options.checkAnswers === true) checkAnswer(contract, given.body);
    const media = contract.media ?? "application/json";
    return reply
      .headers({ "content-type": withCharset(media), ...given.headers })
      .send(contract.media === undefined ? JSON.stringify(given.body) : given.body);
  }

  for (const contract of contracts) {
    const url = toRoute(contract.path);
    const route = {
      method: contract.method,
      url,
      exposeHeadRoute: contract.stream === undefined,
      onRequest: async (request: FastifyRequest) => {
        await authorise(contract, request);
      },
    };
    if (contract.stream !== "socket") {
      app.route({ ...route, handler: (request, reply) => answer(contract, request, reply) });
      continue;
    }
    app.route({
      ...route,
      // Before the upgrade, so that a refusal is an HTTP answer that a client can read.
      preValidation: async (request) => {
        if (!request.ws) throw new Problem("BAD_REQUEST", "Open this address as a WebSocket.");
        const aborter = new AbortController();
        const messages = (await run(contract, request, aborter.signal)) as AsyncIterable<unknown>;
        prepared.set(request, { aborter, messages });
      },
      handler: async () => undefined,
      wsHandler: (socket, request) => {
        const stream = prepared.get(request);
        if (stream === undefined) {
          socket.terminate();
          return;
        }
        streams.add(stream.aborter);
        void sendMessages(socket, stream.messages, stream.aborter, (error) => {
          log.error({ request_id: request.id, err: error }, "a socket failed");
        }).finally(() => streams.delete(stream.aborter));
      },
    });
  }
  await app.ready();

  return {
    inject: (...given: Parameters<typeof app.inject>) => app.inject(...given),
    listen: async ({ host, port }) => {
      if (!options.access.hasTokens && !isLoopback(host)) {
        throw new Error(
          `Without service tokens this server listens on loopback only, and ${host} is not: ` +
            "configure a token, or listen on 127.0.0.1.",
        );
      }
      return { url: await app.listen({ host, port }) };
    },
    close: async () => {
      // Node waits a minute for a client that is connected and asks nothing, as clients do to be
      // ready. Whoever has no answer coming is let go.
      const letGo = setInterval(() => {
        if (inFlight.size === 0) app.server.closeAllConnections();
      }, 50);
      await app.close().finally(() => {
        clearInterval(letGo);
      });
    },
  };
}

/** Contracts check what comes and goes. Without this, a tenth of the start loads what would do it again. */
const noSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema() {
  return (): never => {
    throw new Error("a route has a contract and no other schema");
  };
}

/** One for all: it is told with every answer, and making one, with its stack, costs more than the rest. */
const goneAway = new DOMException("The client is gone.", "AbortError");
const tooSlow = "ERR_HTTP_REQUEST_TIMEOUT";

function headerOf(request: FastifyRequest): (name: string) => string | undefined {
  return (name) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
}

interface Prepared {
  readonly aborter: AbortController;
  readonly messages: AsyncIterable<unknown>;
}

/** A browser that reconnects repeats the address and adds where it was: the header is newer. */
function resumed(request: FastifyRequest): unknown {
  const last = request.headers["last-event-id"];
  return typeof last === "string" && last !== ""
    ? { ...(request.query as object), after: last }
    : request.query;
}

/** Only JSON is parsed; every other type is refused with 415. */
function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const json = /^application\/(?:[\w.-]+\+)?json(?:;|$)/;
  app.addContentTypeParser(json, { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, parseBody(text as string));
    } catch (error) {
      done(error as Error);
    }
  });
}

function withCharset(media: string): string {
  return media.startsWith("text/") || media.endsWith("json") ? `${media}; charset=utf-8` : media;
}

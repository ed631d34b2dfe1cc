/**
 * The HTTP server: contracts and handlers in, routes out. This is the only file that imports the
 * library which serves them. Every request passes the same steps: request id, identify the caller,
 * check access, parse, handle; an error in any step is answered as problem+json.
 */
import { randomUUID } from "node:crypto";
import { maxHeaderSize } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import websocket from "@fastify/websocket";
import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Contract, RawMedia } from "../../core/api/contract.ts";
import { rawMedia, usualBodyLimit } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import { hideSecrets } from "../runtime/redact.ts";
import { demandAccess, identify, isLoopback } from "./access.ts";
import type { Caller } from "./handler.ts";
import { Answer, callHandler, checkAnswer } from "./handler.ts";
import { answerClientError } from "./client-errors.ts";
import { parseBody } from "./parse-request.ts";
import { answerError, problemMedia } from "./problem.ts";
import { listResources, nameRest, toRoute } from "./route-path.ts";
import { takeSignature } from "./signed-address.ts";
import type { ServerOptions } from "./server-options.ts";
import { limitBody, timeoutSettings, usualTimeouts } from "./server-options.ts";
import { sendMessages, writeEvents } from "./streams.ts";
import { createRequestSpans, validTraceParent } from "./trace-requests.ts";

export interface HttpServer {
  readonly inject: FastifyInstance["inject"];
  listen(options: { host: string; port: number }): Promise<{ url: string }>;
  /** Ends the live streams, lets requests finish, and closes. */
  close(): Promise<void>;
}

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

export async function buildServer(options: ServerOptions): Promise<HttpServer> {
  const { contracts, handlers, log, timeouts = usualTimeouts } = options;
  const callers = new WeakMap<FastifyRequest, Caller>();
  const signed = new WeakMap<IncomingMessage, string>();
  const sockets = new WeakMap<FastifyRequest, OpenedStream>();
  const streams = new Set<AbortController>();
  const spans = createRequestSpans(options.tracer);

  const app = fastify({
    logger: false,
    // Any that fits into the headers: the contract refuses a longer one with its name.
    routerOptions: { maxParamLength: maxHeaderSize },
    requestIdHeader: false,
    schemaController: { compilersFactory: noSchemas },
    genReqId: (raw) => {
      const given = raw.headers["x-request-id"];
      return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
    },
    frameworkErrors: (error, request, reply) => {
      fail(error, request, reply);
    },
    clientErrorHandler: (error, socket) => {
      answerClientError(error, socket, securityHeaders);
    },
    rewriteUrl: (raw) => takeSignature(raw, signed),
    ...timeoutSettings(timeouts),
  });
  app.server.maxConnections = timeouts.mostConnections;
  const inFlight = new Set<ServerResponse>();
  app.server.on("request", (_request, response) => {
    inFlight.add(response);
    response.once("close", () => inFlight.delete(response));
  });
  await app.register(websocket, { options: { maxPayload: 1024 } });
  acceptJsonOnly(app);

  const resources = listResources(contracts);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ ...securityHeaders, "x-request-id": request.id });
    spans?.start(request);
    const { raw: rawBody } = request.routeOptions.config as RouteConfig;
    limitBody(request.raw, timeouts.requestMs, rawBody !== undefined, (error) => {
      answerClientError(error, request.raw.socket, securityHeaders);
    });
    const path = pathOf(request);
    const resource = request.is404
      ? resources.at(path)
      : resources.within(request.routeOptions.url ?? "").find(({ pattern }) => pattern.test(path));
    if (resource === undefined) return;
    // In this hook, before the body is read.
    reply.header("allow", resource.allow);
    if (request.method === "OPTIONS") return reply.headers(resource.options).code(204).send();
    throw new Problem("METHOD_NOT_ALLOWED", `Use ${resource.allow} here.`);
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, id: request_id } = request;
    const path = templateOf(request);
    const status = reply.statusCode;
    const seconds = reply.elapsedTime / 1000;
    options.onAnswered?.({ method, path, status, seconds });
    const trace_id = spans?.end(request, status);
    const caller = callers.get(request)?.name;
    const url = hideSecrets(request.url);
    log.debug({ request_id, trace_id, method, url, status, seconds, caller }, "answered");
  });
  app.addHook("preClose", async () => {
    for (const stream of streams) stream.abort();
  });
  app.setErrorHandler((error, request, reply) => {
    fail(error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    fail(new Problem("NOT_FOUND", `There is nothing at ${pathOf(request)}.`), request, reply);
  });

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { bodyLimit, config } = request.routeOptions;
    const { headInOutage } = request.method === "HEAD" ? (config as RouteConfig) : {};
    const limits = { bodyLimit, inOutage: headInOutage };
    const { status, isOurs, headers, body } = answerError(error, request.id, limits);
    if (isOurs) {
      const fields = { request_id: request.id, url: hideSecrets(request.url), err: error };
      log.error({ ...fields, trace_id: spans?.traceId(request) }, "a request failed");
    }
    reply.headers({ ...securityHeaders, ...headers, "x-request-id": request.id });
    void reply.code(status).type(problemMedia).send(body);
  }

  async function authorise(contract: Contract, request: FastifyRequest): Promise<void> {
    if (contract.access === "public") {
      if (contract.anonymous === true || options.access.anonymousOnPublic === true) return;
    }
    const token = signed.get(request.raw);
    const caller =
      token === undefined
        ? await identifyCaller(contract, request)
        : open(contract, request, token);
    if (caller !== undefined) {
      callers.set(request, caller);
      options.admit?.(caller, contract);
    }
    demandAccess(contract.access, caller);
  }

  /** A signed address gives no right to change anything, nor to what else a cookie would open. */
  function open(contract: Contract, request: FastifyRequest, token: string): Caller | undefined {
    const caller = options.access.signer?.check(token, pathOf(request));
    return contract.method === "GET" ? caller : undefined;
  }

  function identifyCaller(contract: Contract, request: FastifyRequest) {
    return identify(options.access, {
      authorization: request.headers.authorization,
      host: request.headers.host,
      origin: request.headers.origin,
      remoteAddress: request.socket.remoteAddress,
      forwardedFor: [request.headers["x-forwarded-for"]].flat().join(","),
      forwarded: "x-forwarded-for" in request.headers || "forwarded" in request.headers,
      changes: contract.method !== "GET" || contract.stream === "socket",
      header: headerOf(request),
    });
  }

  function run(contract: Contract, request: FastifyRequest, signal: AbortSignal): Promise<unknown> {
    const raw = {
      params: nameRest(contract, request.params),
      query: contract.stream === undefined ? request.query : withLastEvent(request),
      body: request.body,
    };
    return callHandler(handlers, contract, raw, {
      caller: callers.get(request),
      requestId: request.id,
      traceParent: spans?.context(request) ?? validTraceParent(request.headers["traceparent"]),
      method: request.method,
      remoteAddress: request.socket.remoteAddress,
      header: headerOf(request),
      signal,
    });
  }

  async function answer(contract: Contract, request: FastifyRequest, reply: FastifyReply) {
    const aborter = new AbortController();
    reply.raw.once("close", () => {
      aborter.abort(clientGone);
    });
    const result = await run(contract, request, aborter.signal);
    const given = result instanceof Answer ? result : new Answer(result);
    if (contract.stream === "events" && given.status === undefined) {
      reply.hijack();
      streams.add(aborter);
      const headers = { ...securityHeaders, "x-request-id": request.id };
      await writeEvents(reply.raw, headers, given.body as AsyncIterable<object>, aborter.signal)
        .catch((error: unknown) => {
          if (!aborter.signal.aborted)
            log.error({ request_id: request.id, err: error }, "a stream failed");
        })
        .finally(() => streams.delete(aborter));
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
    const route = {
      method: contract.method,
      url: toRoute(contract.path),
      exposeHeadRoute: contract.stream === undefined,
      bodyLimit: Math.min(
        contract.bodyLimit ?? usualBodyLimit,
        options.bodyLimitBytes ?? Number.MAX_SAFE_INTEGER,
      ),
      config: {
        raw: contract.rawBody,
        headInOutage: contract.headInOutage,
      } satisfies RouteConfig,
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
      // Before the upgrade, so that a refusal is an HTTP answer that the client can read.
      preValidation: async (request) => {
        if (!request.ws) throw new Problem("BAD_REQUEST", "Open this address as a WebSocket.");
        const aborter = new AbortController();
        const messages = (await run(contract, request, aborter.signal)) as AsyncIterable<object>;
        sockets.set(request, { aborter, messages });
      },
      handler: async () => undefined,
      wsHandler: (socket, request) => {
        const stream = sockets.get(request);
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
      // Node would wait a minute for idle connections, which clients keep open for later requests.
      const dropIdle = setInterval(() => {
        if (inFlight.size === 0) app.server.closeAllConnections();
      }, 50);
      await app.close().finally(() => {
        clearInterval(dropIdle);
      });
    },
  };
}

interface RouteConfig {
  readonly raw?: RawMedia | undefined;
  readonly headInOutage?: number | undefined;
}

interface OpenedStream {
  readonly aborter: AbortController;
  readonly messages: AsyncIterable<object>;
}

/** Contracts validate requests and answers. The library's own validator is a tenth of the start. */
const noSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema() {
  return (): never => {
    throw new Error("a route has a contract and no other schema");
  };
}

/** One for all requests: every answer aborts its signal, and a new error with its stack is slow. */
const clientGone = new DOMException("The client is gone.", "AbortError");

/** The contract's path, such as `/api/v1/jobs/{job_id}`. */
function templateOf(request: FastifyRequest): string {
  return request.routeOptions.url?.replaceAll(/:(\w+)/g, "{$1}") ?? "unknown";
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0] ?? "";
}

function headerOf(request: FastifyRequest): (name: string) => string | undefined {
  return (name) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
}

/** A browser that reconnects repeats the URL and adds the last event it saw as a header. */
function withLastEvent(request: FastifyRequest): unknown {
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
  for (const media of rawMedia) {
    app.addContentTypeParser(media, (request, payload, done) => {
      const { raw } = request.routeOptions.config as RouteConfig;
      if (raw === media) done(null, payload);
      else done(new Problem("UNSUPPORTED_MEDIA_TYPE", `This route takes ${raw ?? "JSON"}.`));
    });
  }
}

function withCharset(media: string): string {
  return media.startsWith("text/") || media.endsWith("json") ? `${media}; charset=utf-8` : media;
}

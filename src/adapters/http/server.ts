/**
 * The HTTP server: contracts and handlers in, routes out. This is the only file that imports the
 * library which serves them. Every request passes the same steps: request id, identify the caller,
 * check access, parse, handle; an error in any step is answered as problem+json.
 */
import { randomUUID } from "node:crypto";
import { maxHeaderSize } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
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
import { acceptsGzip } from "./compress.ts";
import { parseBody } from "./parse-request.ts";
import { answerError, problemMedia } from "./problem.ts";
import { RequestAborter } from "./request-aborter.ts";
import type { Resource } from "./route-path.ts";
import { listResources, nameRest, restOf, toRoute } from "./route-path.ts";
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
  const signed = new WeakMap<IncomingMessage, string>();
  const sockets = new WeakMap<FastifyRequest, OpenedStream>();
  const streams = new Set<{ abort(): void }>();
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
  let inFlight = 0;
  const countEnded = () => (inFlight -= 1);
  app.server.on("request", (_request, response: ServerResponse) => {
    inFlight += 1;
    response.on("close", countEnded);
  });
  await app.register(websocket, { options: { maxPayload: 1024 } });
  // A property of the request and not a WeakMap, whose entries each garbage collection looks at.
  app.decorateRequest("caller");
  acceptJsonOnly(app);

  const resources = listResources(contracts);
  // Hooks of known routes are made with their contracts, below; the library describes the route of a
  // request by a new object with each look. Hooks call back instead of being async functions, so that
  // most requests reach their handler without a promise.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    begin(request, reply, false);
    const resource = resources.at(pathOf(request));
    if (resource === undefined) done();
    else refuseMethod(resource, request, reply);
  });
  app.addHook("onResponse", (request, reply, done) => {
    if (request.is404) recordAnswer(request, reply, "unknown");
    done();
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

  /** The first step of every request, before its body is read. */
  function begin(request: FastifyRequest, reply: FastifyReply, isStreamed: boolean): void {
    reply.headers(securityHeaders);
    reply.header("x-request-id", request.id);
    limitBody(request.raw, timeouts.requestMs, isStreamed, answerLateBody);
  }

  /** Answers OPTIONS, and refuses methods that the resource does not have. */
  function refuseMethod(resource: Resource, request: FastifyRequest, reply: FastifyReply): void {
    reply.header("allow", resource.allow);
    if (request.method === "OPTIONS") void reply.headers(resource.options).code(204).send();
    else throw new Problem("METHOD_NOT_ALLOWED", `Use ${resource.allow} here.`);
  }

  /** The last step of every request; `path` is the contract's. */
  function recordAnswer(request: FastifyRequest, reply: FastifyReply, path: string): void {
    const { method, id: request_id } = request;
    const status = reply.statusCode;
    const seconds = reply.elapsedTime / 1000;
    options.onAnswered?.({ method, path, status, seconds });
    const trace_id = spans?.end(request, status);
    if (log.isLevelEnabled?.("debug") === false) return;
    const caller = request.caller?.name;
    const url = hideSecrets(request.url);
    log.debug({ request_id, trace_id, method, url, status, seconds, caller }, "answered");
  }

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

  /** Answers with a promise only where the caller must be looked up. */
  function authorise(contract: Contract, request: FastifyRequest): Promise<void> | undefined {
    if (contract.access === "public") {
      if (contract.anonymous === true || options.access.anonymousOnPublic === true)
        return undefined;
    }
    const token = signed.get(request.raw);
    const caller =
      token === undefined ? identifyCaller(contract, request) : open(contract, request, token);
    if (caller instanceof Promise) {
      return caller.then((known) => {
        admit(contract, request, known);
      });
    }
    admit(contract, request, caller);
    return undefined;
  }

  function admit(contract: Contract, request: FastifyRequest, caller: Caller | undefined): void {
    request.caller = caller;
    if (caller !== undefined) options.admit?.(caller, contract);
    demandAccess(contract.access, caller);
  }

  /** A signed address gives no right to change anything, nor to what else a cookie would open. */
  function open(contract: Contract, request: FastifyRequest, token: string): Caller | undefined {
    const caller = options.access.signer?.check(token, pathOf(request));
    return contract.method === "GET" ? caller : undefined;
  }

  function identifyCaller(contract: Contract, request: FastifyRequest) {
    const { headers } = request;
    const forwardedFor = headers["x-forwarded-for"] ?? "";
    return identify(options.access, {
      authorization: headers.authorization,
      host: headers.host,
      origin: headers.origin,
      remoteAddress: request.socket.remoteAddress,
      forwardedFor: Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor,
      forwarded: "x-forwarded-for" in headers || "forwarded" in headers,
      changes: contract.method !== "GET" || contract.stream === "socket",
      header: headerOf(request),
    });
  }

  function run(
    { contract, rest }: Route,
    request: FastifyRequest,
    aborter: { readonly signal: AbortSignal },
  ): Promise<unknown> {
    const raw = {
      params: nameRest(rest, request.params),
      query: contract.stream === undefined ? request.query : withLastEvent(request),
      body: request.body,
    };
    return callHandler(handlers, contract, raw, {
      caller: request.caller,
      requestId: request.id,
      traceParent: spans?.context(request) ?? validTraceParent(request.headers["traceparent"]),
      method: request.method,
      remoteAddress: request.socket.remoteAddress,
      header: headerOf(request),
      aborter,
    });
  }

  async function answer(route: Route, request: FastifyRequest, reply: FastifyReply) {
    const { contract, mediaType } = route;
    const aborter = new RequestAborter(reply.raw);
    const result = await run(route, request, aborter);
    const given = result instanceof Answer ? result : new Answer(result);
    if (contract.stream === "events" && given.status === undefined) {
      reply.hijack();
      streams.add(aborter);
      const headers = { ...securityHeaders, "x-request-id": request.id };
      const how = { signal: aborter.signal, gzip: acceptsGzip(headerOf(request)) };
      await writeEvents(reply.raw, headers, given.body as AsyncIterable<object>, how)
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
    return reply
      .header("content-type", mediaType)
      .headers(given.headers)
      .send(contract.media === undefined ? JSON.stringify(given.body) : given.body);
  }

  for (const contract of contracts) {
    const url = toRoute(contract.path);
    const path = url.replaceAll(/:(\w+)/g, "{$1}");
    const inside = resources.within(url);
    const isStreamed = contract.rawBody !== undefined;
    const known: Route = {
      contract,
      rest: restOf(contract.path),
      mediaType: withCharset(contract.media ?? "application/json"),
    };
    const route = {
      method: contract.method,
      url,
      exposeHeadRoute: contract.stream === undefined,
      bodyLimit: Math.min(
        contract.bodyLimit ?? usualBodyLimit,
        options.bodyLimitBytes ?? Number.MAX_SAFE_INTEGER,
      ),
      config: {
        raw: contract.rawBody,
        headInOutage: contract.headInOutage,
      } satisfies RouteConfig,
      onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        spans?.start(request, path);
        begin(request, reply, isStreamed);
        const other = inside.find(({ pattern }) => pattern.test(pathOf(request)));
        if (other !== undefined) {
          refuseMethod(other, request, reply);
          return undefined;
        }
        const lookup = authorise(contract, request);
        if (lookup === undefined) done();
        // The library waits for a promise as it waits for `done`.
        return lookup;
      },
      onResponse: (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        recordAnswer(request, reply, path);
        done();
      },
    };
    if (contract.stream !== "socket") {
      app.route({ ...route, handler: (request, reply) => answer(known, request, reply) });
      continue;
    }
    app.route({
      ...route,
      // Before the upgrade, so that a refusal is an HTTP answer that the client can read.
      preValidation: async (request) => {
        if (!request.ws) throw new Problem("BAD_REQUEST", "Open this address as a WebSocket.");
        const aborter = new AbortController();
        const messages = (await run(known, request, aborter)) as AsyncIterable<object>;
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
        if (inFlight === 0) app.server.closeAllConnections();
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

/** A contract, and what its requests need of it. */
interface Route {
  readonly contract: Contract;
  readonly rest: string | undefined;
  readonly mediaType: string;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set when the caller is identified. */
    caller: Caller | undefined;
  }
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

function answerLateBody(error: Error & { readonly code: string }, socket: Socket): void {
  answerClientError(error, socket, securityHeaders);
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

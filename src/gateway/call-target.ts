/**
 * One HTTP request to a program of the platform. The address comes from the configuration and the
 * path from our own code, so a partner cannot make the gateway call anything else; redirects are
 * not followed, and an answer that is too slow or too large is an error.
 *
 * Node's own client takes half the time of fetch, and every submission makes such a request.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request as requestHttp } from "node:http";
import { Agent as SecureAgent, request as requestHttps } from "node:https";
import { hasErrorCode } from "../adapters/runtime/error-code.ts";

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly token: string | undefined;
}

export interface TargetRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
}

export interface TargetAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly bytes: Buffer;
}

/** `refused`: the target was not reached and did nothing. Otherwise it may have done the work. */
export class TargetError extends Error {
  readonly kind: "refused" | "slow" | "broken" | "too_large";

  constructor(kind: TargetError["kind"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "TargetError";
    this.kind = kind;
  }
}

const unreached = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"];
const mostBytes = 16 * 1024 * 1024;
const connections = { keepAlive: true, maxSockets: 64 };
const agents = { http: new Agent(connections), https: new SecureAgent(connections) };

export async function callTarget(target: Target, request: TargetRequest): Promise<TargetAnswer> {
  const { timeoutMs } = request;
  try {
    return await send(target, request);
  } catch (cause) {
    if (cause instanceof TargetError) throw cause;
    const isRefused = hasErrorCode(cause, ...unreached);
    const reason = isRefused ? `${target.name} cannot be reached` : `${target.name} broke off`;
    throw new TargetError(isRefused ? "refused" : "broken", reason, { cause });
  }

  function send({ name, url, token }: Target, given: TargetRequest): Promise<TargetAnswer> {
    const { method, path, headers, body = "" } = given;
    const address = new URL(url.replace(/\/+$/, "") + path);
    const isSecure = address.protocol === "https:";
    return new Promise((resolve, reject) => {
      const sent = (isSecure ? requestHttps : requestHttp)(address, {
        method,
        agent: isSecure ? agents.https : agents.http,
        headers: {
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === "" ? {} : { "content-type": "application/json" }),
          ...(body === "" && method === "GET" ? {} : { "content-length": Buffer.byteLength(body) }),
        },
      });
      const late = setTimeout(() => {
        sent.destroy(new TargetError("slow", `${name} has not answered for ${timeoutMs / 1000} s`));
      }, timeoutMs);
      sent.once("close", () => {
        clearTimeout(late);
      });
      sent.once("error", reject);
      sent.once("response", (answer) => {
        readAll(answer).then((bytes) => {
          resolve({ status: answer.statusCode ?? 0, headers: readable(answer.headers), bytes });
        }, reject);
      });
      sent.end(body);
    });
  }
}

async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > mostBytes) throw new TargetError("too_large", "the answer is too large to pass on");
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

function readable(headers: IncomingHttpHeaders): TargetAnswer["headers"] {
  return {
    get: (name) => {
      const value = headers[name];
      return value === undefined ? null : String(value);
    },
  };
}

export type TargetState = "ok" | "down";

const probeTimeoutMs = 2000;

/** Asks all targets at once whether they are alive. */
export async function probeTargets(
  targets: ReadonlyMap<string, Target>,
): Promise<Record<string, TargetState>> {
  const found = [...targets].map(async ([name, target]): Promise<[string, TargetState]> => {
    const request = { method: "GET", path: "/livez", timeoutMs: probeTimeoutMs };
    const isUp = await callTarget(target, request).then(
      ({ status }) => status < 500,
      () => false,
    );
    return [name, isUp ? "ok" : "down"];
  });
  return Object.fromEntries(await Promise.all(found));
}

export function overallState(
  targets: Readonly<Record<string, TargetState>>,
): "ok" | "degraded" | "down" {
  const found = Object.values(targets);
  if (found.every((each) => each === "ok")) return "ok";
  return found.includes("ok") ? "degraded" : "down";
}

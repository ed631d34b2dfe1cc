/**
 * One HTTP request to a program of the platform. The address comes from the configuration and the
 * path from our own code, so a partner cannot make the gateway call anything else; redirects are
 * not followed, and an answer that is too slow or too large is none.
 *
 * With Node's own client and not with fetch: it costs half the time, and every submission pays it.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request as requestHttp } from "node:http";
import { Agent as SecureAgent, request as requestHttps } from "node:https";

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

/** `refused`: nothing listens there, so nothing was done. Otherwise nobody knows what was done. */
export class TargetError extends Error {
  readonly kind: "refused" | "slow" | "broken" | "too_large";

  constructor(kind: TargetError["kind"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "TargetError";
    this.kind = kind;
  }
}

const mostBytes = 16 * 1024 * 1024;
const connections = { keepAlive: true, maxSockets: 64 };
const agents = { http: new Agent(connections), https: new SecureAgent(connections) };

export async function callTarget(target: Target, request: TargetRequest): Promise<TargetAnswer> {
  const { timeoutMs } = request;
  try {
    return await send(target, request);
  } catch (cause) {
    if (cause instanceof TargetError) throw cause;
    const { code = "" } = cause as NodeJS.ErrnoException;
    const isRefused = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/.test(code);
    const told = isRefused ? `${target.name} cannot be reached` : `${target.name} broke off`;
    throw new TargetError(isRefused ? "refused" : "broken", told, { cause });
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

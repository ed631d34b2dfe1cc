/**
 * A client with one method for each contract, typed by it. The browser, the command line and the
 * tests each pass in their own `fetch`.
 */
import type { z } from "zod";
import { errorCatalogue } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import { ApiError } from "./api-error.ts";
import type { Contract, ResponseOf } from "./contract.ts";
import type { Contracts } from "./index.ts";
import { contracts } from "./index.ts";
import type { Fetch, FetchAnswer } from "./fetch.ts";
import { readEvents } from "./fetch.ts";
import { problem } from "./schemas.ts";

export interface ClientOptions {
  /** For example `http://127.0.0.1:8000`. */
  readonly baseUrl: string;
  readonly token?: string | undefined;
  readonly fetch: Fetch;
}

type Given<C extends Contract> = Part<C, "params"> &
  Part<C, "query"> &
  Part<C, "body"> & {
    /** For example `if-match`. */
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly signal?: AbortSignal | undefined;
  };

/** A part that has only optional fields may be left out as a whole. */
type Part<C extends Contract, Key extends "params" | "query" | "body"> = C[Key] extends z.ZodType
  ? object extends z.input<C[Key]>
    ? Readonly<Partial<Record<Key, z.input<C[Key]> | undefined>>>
    : undefined extends z.input<C[Key]>
      ? Readonly<Partial<Record<Key, z.input<C[Key]>>>>
      : Readonly<Record<Key, z.input<C[Key]>>>
  : unknown;

type Method<C extends Contract> = C["stream"] extends "events"
  ? (given: Given<C>) => AsyncIterable<ResponseOf<C>>
  : object extends Given<C>
    ? (given?: Given<C>) => Promise<ResponseOf<C>>
    : (given: Given<C>) => Promise<ResponseOf<C>>;

/** Sockets are left out: the browser and Node have different kinds of socket. */
export type Client = {
  readonly [C in Contracts[number] as C extends { stream: "socket" } ? never : C["id"]]: Method<C>;
};

interface AnyGiven {
  readonly params?: Record<string, unknown>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createClient(options: ClientOptions): Client {
  const methods = contracts.map((contract: Contract) => [
    contract.id,
    contract.stream === "events"
      ? (given: AnyGiven) => follow(options, contract, given)
      : (given: AnyGiven = {}) => call(options, contract, given),
  ]);
  return Object.fromEntries(methods) as Client;
}

async function call(options: ClientOptions, contract: Contract, given: AnyGiven): Promise<unknown> {
  const answer = await send(options, contract, given);
  const text = await answer.text();
  return contract.media === undefined ? parse(text, answer) : text;
}

async function* follow(
  options: ClientOptions,
  contract: Contract,
  given: AnyGiven,
): AsyncGenerator {
  const answer = await send(options, contract, given);
  // 204: the job is finished, and the client has all its events.
  if (answer.status === 204 || answer.body === null) return;
  for await (const { data } of readEvents(answer.body)) yield parse(data, answer);
}

async function send(
  { baseUrl, token, fetch }: ClientOptions,
  contract: Contract,
  { params = {}, query = {}, body, headers: extra, signal }: AnyGiven,
): Promise<FetchAnswer> {
  const url = baseUrl.replace(/\/+$/, "") + fillPath(contract.path, params) + queryText(query);
  const headers: Record<string, string> = {
    ...extra,
    accept:
      contract.stream === "events" ? "text/event-stream" : (contract.media ?? "application/json"),
  };
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let answer: FetchAnswer;
  try {
    answer = await fetch(url, {
      method: contract.method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ApiError("UNREACHABLE", 0, `Nothing answers at ${baseUrl}: is it running?`, [], {
      cause,
    });
  }
  if (answer.status >= 400) throw toError(await answer.text(), answer);
  return answer;
}

function toError(text: string, answer: FetchAnswer): ApiError {
  const found = problem.safeParse(tryParse(text));
  const requestId = answer.headers.get("x-request-id") ?? undefined;
  if (!found.success || !Object.hasOwn(errorCatalogue, found.data.code)) {
    const detail = `Answered ${answer.status} without saying why: is this the orchestrator?`;
    return new ApiError("UNREACHABLE", answer.status, detail, [], { requestId });
  }
  const { code, status, detail, errors } = found.data;
  return new ApiError(code as ErrorCode, status, detail, errors, { requestId });
}

function parse(text: string, answer: FetchAnswer): unknown {
  const value = tryParse(text);
  if (value !== undefined) return value;
  throw new ApiError(
    "UNREACHABLE",
    answer.status,
    "The answer is not JSON: is this the orchestrator?",
  );
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function fillPath(path: string, params: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)(\*?)\}/g, (_, name: string, rest: string) => {
    if (!Object.hasOwn(params, name)) throw new Error(`${path} needs the parameter ${name}`);
    const value = encodeURIComponent(String(params[name]));
    return rest === "" ? value : value.replaceAll("%2F", "/");
  });
}

function queryText(query: Record<string, unknown>): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return pairs.length > 0 ? `?${pairs.join("&")}` : "";
}

/** Handlers of contracts: what they get, what they answer, and how one is called. */
import type {
  Access,
  BodyOf,
  Contract,
  ParamsOf,
  QueryOf,
  ResponseOf,
} from "../../core/api/contract.ts";
import type { RawRequest } from "./parse-request.ts";
import { parseRequest } from "./parse-request.ts";

export interface Caller {
  readonly name: string;
  readonly access: readonly Access[];
  /** The partner who owns the key; absent for operators and programs of the platform. */
  readonly platformId?: string;
  /** The hash of the caller's token; for a session, of the token that it was opened with. */
  readonly tokenSha256?: string;
  readonly sessionId?: string;
  /** Of a token for workers: the only queues and handlers that it reaches; null: all. */
  readonly confined?: Confined;
  /** Of a signed address: the only vector layers that lists show. */
  readonly onlyLayers?: readonly string[];
}

export interface Confined {
  readonly queues: readonly string[] | null;
  readonly handlers: readonly string[] | null;
}

export interface ApiRequest<C extends Contract> {
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  /** Undefined only where access is public. */
  readonly caller: Caller | undefined;
  readonly requestId: string;
  /** The context for what the request starts, of its span or else of the caller. */
  readonly traceParent: string | undefined;
  /** The address that the connection comes from: the client's, or a proxy's. */
  readonly remoteAddress: string | undefined;
  /** HEAD or GET for the handler of a GET, which need not make a body for a HEAD. */
  readonly method: string;
  /** By its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
}

export type Handler<C extends Contract> = (
  request: ApiRequest<C>,
) => Promise<
  (C extends { stream: string } ? AsyncIterable<ResponseOf<C>> : ResponseOf<C>) | Answer
>;

/** One handler for each contract: a missing one does not compile. */
export type Handlers<Contracts extends readonly Contract[]> = {
  readonly [C in Contracts[number] as C["id"]]: Handler<C>;
};

/** What a handler returns where it sets a status or headers. */
export class Answer {
  readonly body: unknown;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    body: unknown,
    options: { status?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    this.body = body;
    this.status = options.status;
    this.headers = options.headers ?? {};
  }
}

type AnyHandler = (request: ApiRequest<Contract>) => Promise<unknown>;

/** The parts of a request that its contract does not parse. */
export interface RequestContext extends Omit<ApiRequest<Contract>, keyof RawRequest | "signal"> {
  /** Its signal is read when the handler reads it. */
  readonly aborter: { readonly signal: AbortSignal };
}

/** Parses the request by its contract and calls the contract's handler. */
export async function callHandler(
  handlers: object,
  contract: Contract,
  raw: RawRequest,
  context: RequestContext,
): Promise<unknown> {
  const handler = Object.hasOwn(handlers, contract.id)
    ? (handlers as Record<string, AnyHandler>)[contract.id]
    : undefined;
  if (handler === undefined) throw new Error(`${contract.id} has no handler`);
  return handler(new ParsedRequest(parseRequest(contract, raw), context));
}

/** A class, because V8 takes microseconds to make an object literal that has an accessor. */
class ParsedRequest implements ApiRequest<Contract> {
  readonly params: ApiRequest<Contract>["params"];
  readonly query: ApiRequest<Contract>["query"];
  readonly body: ApiRequest<Contract>["body"];
  readonly caller: Caller | undefined;
  readonly requestId: string;
  readonly traceParent: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly method: string;
  readonly header: (name: string) => string | undefined;
  private readonly aborter: RequestContext["aborter"];

  constructor(parsed: RawRequest, context: RequestContext) {
    this.params = parsed.params as ApiRequest<Contract>["params"];
    this.query = parsed.query as ApiRequest<Contract>["query"];
    this.body = parsed.body;
    this.caller = context.caller;
    this.requestId = context.requestId;
    this.traceParent = context.traceParent;
    this.remoteAddress = context.remoteAddress;
    this.method = context.method;
    this.header = context.header;
    this.aborter = context.aborter;
  }

  get signal(): AbortSignal {
    return this.aborter.signal;
  }
}

/** Throws where an answer does not match its contract. */
export function checkAnswer(contract: Contract, body: unknown): void {
  if (contract.media !== undefined) return;
  const sent: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  const result = contract.response.safeParse(sent);
  if (!result.success) throw new Error(`${contract.id} answers wrongly: ${result.error.message}`);
}

/** The part of a logger that is used here. */
export interface HttpLog {
  /** Absent: every level is written. */
  isLevelEnabled?(level: string): boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

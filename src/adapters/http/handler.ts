import type {
  Access,
  BodyOf,
  Contract,
  ParamsOf,
  QueryOf,
  ResponseOf,
} from "../../core/api/contract.ts";

export interface Caller {
  readonly name: string;
  readonly access: readonly Access[];
  /** The partner whose key it is; absent for the platform's own people and programs. */
  readonly platformId?: string;
}

export interface ApiRequest<C extends Contract> {
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  /** Undefined only where access is public. */
  readonly caller: Caller | undefined;
  readonly requestId: string;
  /** A HEAD comes to the handler of the GET, which need not make a body for it. */
  readonly method: string;
  /** The request's own header, by its lower-case name. */
  header(name: string): string | undefined;
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

/** For a handler that has to say more than a body: another status, a header. */
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

/** The part of a logger that is used here. */
export interface HttpLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * The HTTP API as data. One list of contracts gives the server its routes and validation, the
 * OpenAPI document, the access decision and the typed client, so that none of them can disagree.
 */
import { z } from "zod";
import type { ErrorCode } from "../errors.ts";

/**
 * The right that a call needs. `public`: none. `read`: sees jobs and layers. `operate`: changes
 * jobs. `curate`: approves, rejects and clears versions. `service`: the platform's own processes.
 * `submit` and `admin` are for the keys of partners at the gateway: to submit a data set, and to
 * manage keys.
 */
export const access = z.enum(["public", "read", "submit", "operate", "curate", "admin", "service"]);
export type Access = z.infer<typeof access>;

export interface Contract {
  /** The operation's name: the client's method, the handler's key, OpenAPI's operationId. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/api/v1/jobs/{job_id}`; `{path*}` at the end takes all the rest. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The schema of the answer's body, or of one message if the answer is a stream. */
  readonly response: z.ZodType;
  /** The status of success; 200 by default. */
  readonly status?: number;
  /** Other successful statuses, each with its meaning. */
  readonly also?: Readonly<Record<number, string>>;
  readonly errors: readonly [ErrorCode, ...ErrorCode[]];
  /**
   * The media type of an answer that is not JSON but text or bytes; the answer's headers may
   * override it.
   */
  readonly media?: string;
  /** `events`: server-sent events. `socket`: the same messages over a WebSocket. */
  readonly stream?: "events" | "socket";
}

/** Keeps the exact types of a contract, and does not compile for anything else. */
export function defineContract<const Given extends Contract>(contract: Given): Given {
  return contract;
}

/** The parsed parameters that a handler gets, with defaults filled in. */
export type ParamsOf<C extends Contract> = Parsed<C["params"]>;
export type QueryOf<C extends Contract> = Parsed<C["query"]>;
export type BodyOf<C extends Contract> = Parsed<C["body"]>;
export type ResponseOf<C extends Contract> = z.output<C["response"]>;

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

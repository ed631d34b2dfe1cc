/**
 * The HTTP API as data. One list of contracts gives the server its routes and validation, the
 * OpenAPI document, the access decision and the typed client, so that none of them can disagree.
 */
import { z } from "zod";
import type { ErrorCode } from "../errors.ts";

/**
 * Who may call. `public`: anybody. `read`: sees jobs and layers. `operate`: changes jobs. `curate`:
 * approves, rejects and clears what was made. `service`: the platform's own processes. `submit` and
 * `admin` are for the keys of partners at the gateway: to hand in a dataset, to look after the keys.
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
  /** Of the answer's body; of one message where the answer is a stream. */
  readonly response: z.ZodType;
  /** When all went well; 200 unless told. */
  readonly status?: number;
  /** Other good outcomes, each with what it means. */
  readonly also?: Readonly<Record<number, string>>;
  readonly errors: readonly [ErrorCode, ...ErrorCode[]];
  /** Not JSON: the answer is a string or bytes of this kind, unless its headers say another. */
  readonly media?: string;
  /** `events`: server-sent events. `socket`: the same messages over a WebSocket. */
  readonly stream?: "events" | "socket";
}

/** Keeps the exact types of a contract, and refuses what is not one. */
export function defineContract<const Given extends Contract>(contract: Given): Given {
  return contract;
}

/** What a handler gets: parsed, with defaults filled in. */
export type ParamsOf<C extends Contract> = Parsed<C["params"]>;
export type QueryOf<C extends Contract> = Parsed<C["query"]>;
export type BodyOf<C extends Contract> = Parsed<C["body"]>;
export type ResponseOf<C extends Contract> = z.output<C["response"]>;

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

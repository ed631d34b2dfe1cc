/**
 * The HTTP API as data. One list of contracts gives the server its routes and validation, the
 * OpenAPI document, the access decision and the typed client, so that none of them can disagree.
 */
import { z } from "zod";
import type { ErrorCode } from "../errors.ts";

/**
 * The right that a call needs. `public`: none. `read`: sees jobs and layers. `operate`: changes
 * jobs. `curate`: approves, rejects and clears versions. `service`: the platform's own processes.
 * `work`: leases and reports tasks, and nothing else; `service` includes it.
 * `submit` and `admin` are for the keys of partners at the gateway: to submit a data set, and to
 * manage keys.
 */
export const access = z.enum([
  "public",
  "read",
  "submit",
  "operate",
  "curate",
  "admin",
  "service",
  "work",
]);
export type Access = z.infer<typeof access>;

/** Whether rights include one; those of the platform's own processes include those of workers. */
export function includesAccess(granted: readonly Access[], needed: Access): boolean {
  return granted.includes(needed) || (needed === "work" && granted.includes("service"));
}

export const rawMedia = ["application/octet-stream", "application/offset+octet-stream"] as const;
export type RawMedia = (typeof rawMedia)[number];

export interface Contract {
  /** The operation's name: the client's method, the handler's key, OpenAPI's operationId. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/api/v1/jobs/{job_id}`; `{path*}` at the end takes all the rest. */
  readonly path: string;
  readonly access: Access;
  /** A public route whose callers are not identified: it answers while the database is away. */
  readonly anonymous?: true;
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
  /** All media types of a successful answer, where there is another than `media` or JSON. */
  readonly types?: readonly [string, ...string[]];
  /** The largest body in bytes; `usualBodyLimit` unless given. */
  readonly bodyLimit?: number;
  /** The media type of a body of any bytes: its handler gets a stream of them. */
  readonly rawBody?: RawMedia;
  /**
   * The status of a HEAD in an outage or over a rate limit. Clients of tus begin an upload again after
   * every refusal of a HEAD except 423.
   */
  readonly headInOutage?: number;
  /** Headers of the request that mean something here, each with its meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of the answer to OPTIONS. */
  readonly optionsHeaders?: Readonly<Record<string, string>>;
  /** `events`: server-sent events. `socket`: the same messages over a WebSocket. */
  readonly stream?: "events" | "socket";
}

/** Enough for every body without a list or document of the user's. */
export const usualBodyLimit = 64 * 1024;

/** For bodies with the inputs of a workflow, which may be a list for a fan-out. */
export const inputsBodyLimit = 8 * 1024 * 1024;

/** The same for partners; less, so that the orchestrator takes all that the gateway forwards. */
export const partnerBodyLimit = 1024 * 1024;

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

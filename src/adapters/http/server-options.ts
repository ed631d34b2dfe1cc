import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Contract } from "../../core/api/contract.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { AccessPolicy } from "./access.ts";
import type { Caller, HttpLog } from "./handler.ts";

export interface ServerOptions {
  readonly contracts: readonly Contract[];
  /** By contract id. */
  readonly handlers: object;
  readonly access: AccessPolicy;
  readonly log: HttpLog;
  /** Holds also where a contract allows a larger body. */
  readonly bodyLimitBytes?: number;
  /** Called for every request of a known caller; refuses it by throwing a Problem. */
  readonly admit?: (caller: Caller, contract: Contract) => void;
  readonly timeouts?: Timeouts;
  readonly onAnswered?: (timing: Timing) => void;
  /** Undefined: no spans are made. */
  readonly tracer?: Tracer | undefined;
  /** Fails an answer that does not match its contract. For tests: it costs time. */
  readonly checkAnswers?: boolean;
}

/** Bounds on slow and idle clients. */
export interface Timeouts {
  /** Until the headers of a request are complete. */
  readonly headersMs: number;
  /** Until the whole request is complete; of a body that is streamed, between two of its parts. */
  readonly requestMs: number;
  readonly mostConnections: number;
}

export interface Timing {
  readonly method: string;
  /** The contract's path and not the URL, which would make a series of every job. */
  readonly path: string;
  readonly status: number;
  readonly seconds: number;
}

export const usualTimeouts: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  mostConnections: 2000,
};

/** Node checks its connections every 30 seconds by default, however short the timeouts are. */
export function timeoutSettings({ headersMs }: Timeouts) {
  const connectionsCheckingInterval = Math.max(50, Math.floor(headersMs / 4));
  return {
    // Node has one limit for all requests, and an upload may take hours: see `limitBody`.
    requestTimeout: 0,
    http: { headersTimeout: headersMs, connectionsCheckingInterval },
  };
}

/** Ends a request whose body is not complete in time, or, if it is streamed, has stopped coming. */
export function limitBody(
  request: IncomingMessage,
  requestMs: number,
  isStreamed: boolean,
  answer: (error: Error & { readonly code: string }, socket: Socket) => void,
): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length === "0" && encoding === undefined) return;
  // The whole body of an injected request is there at once, and it has no connection to end.
  if (!(request.socket instanceof Socket)) return;
  let seen = isStreamed ? request.socket.bytesRead : 0;
  const late = setTimeout(() => {
    if (request.complete) return;
    if (isStreamed && request.socket.bytesRead > seen) {
      seen = request.socket.bytesRead;
      late.refresh();
      return;
    }
    const error = new Error("the body is late");
    answer(Object.assign(error, { code: "ERR_HTTP_REQUEST_TIMEOUT" }), request.socket);
    // The client may go on sending: it has a moment to read the answer.
    setTimeout(() => request.socket.destroy(), lingerMs).unref();
  }, requestMs);
  // Emitted once, behind the end of the body too.
  request.on("close", () => {
    clearTimeout(late);
  });
}

const lingerMs = 1000;

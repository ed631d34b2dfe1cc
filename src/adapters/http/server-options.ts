import type { Contract } from "../../core/api/contract.ts";
import type { AccessPolicy } from "./access.ts";
import type { Caller, HttpLog } from "./handler.ts";

export interface ServerOptions {
  readonly contracts: readonly Contract[];
  /** By contract id. */
  readonly handlers: object;
  readonly access: AccessPolicy;
  readonly log: HttpLog;
  readonly bodyLimitBytes?: number;
  /** Called for every request of a known caller; refuses it by throwing a Problem. */
  readonly admit?: (caller: Caller, contract: Contract) => void;
  /** For servers that are open to the internet. */
  readonly timeouts?: Timeouts;
  readonly onAnswered?: (timing: Timing) => void;
  /** Fails an answer that does not match its contract. For tests: it costs time. */
  readonly checkAnswers?: boolean;
}

/** Bounds on slow and idle clients. */
export interface Timeouts {
  /** Until the headers of a request are complete. */
  readonly headersMs: number;
  /** Until the whole request is complete. */
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

/** Node checks its connections every 30 seconds by default, however short the timeouts are. */
export function timeoutSettings(timeouts: Timeouts | undefined) {
  if (timeouts === undefined) return {};
  const { headersMs, requestMs } = timeouts;
  const connectionsCheckingInterval = Math.max(50, Math.floor(Math.min(headersMs, requestMs) / 4));
  return {
    requestTimeout: requestMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval },
  };
}

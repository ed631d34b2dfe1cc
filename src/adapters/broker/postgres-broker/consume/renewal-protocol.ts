import type { LeaseToken } from "../sql/message-columns.ts";

/** A lease that the renewing thread keeps alive. */
export interface HeldLease extends LeaseToken {
  readonly lease_ms: number;
  /** Renewed no longer than this: a handler that hangs must free its message in the end. */
  readonly hold_ms: number;
}

export type ToThread =
  /** More leases than the tables before have room for. */
  | { readonly kind: "table"; readonly buffer: SharedArrayBuffer }
  /** There are leases of this length: look often enough. */
  | { readonly kind: "lease_ms"; readonly lease_ms: number }
  /** Leases may have been cancelled: ask about all of them now. */
  | { readonly kind: "renew_now" }
  | { readonly kind: "stop" };

export type FromThread =
  | {
      readonly kind: "ended";
      readonly lease: LeaseToken;
      readonly cause: "cancelled" | "lost" | "held_too_long";
    }
  | { readonly kind: "trouble"; readonly message: string };

export interface ThreadOptions {
  readonly url: string;
  readonly applicationName: string;
}

export interface ThreadData extends ThreadOptions {
  readonly tables: readonly SharedArrayBuffer[];
  /** Undefined: nothing has been held yet. */
  readonly lease_ms: number | undefined;
}

/** The same message may be held twice: by a delivery that lost it, and by the next one. */
export function leaseKey(lease: LeaseToken): string {
  return `${lease.message_id}/${lease.deliveries}`;
}

import type { LeaseToken } from "../sql/message-columns.ts";

/** A lease that the renewing thread keeps alive. */
export interface HeldLease extends LeaseToken {
  readonly lease_ms: number;
  /** How long the lease is renewed: the message of a handler that hangs must become free. */
  readonly hold_ms: number;
}

export type ToThread =
  /** One more table, because the tables before are full. */
  | { readonly kind: "table"; readonly buffer: SharedArrayBuffer }
  /** The shortest lease so far: read the tables often enough for it. */
  | { readonly kind: "lease_ms"; readonly lease_ms: number }
  /** Leases may have been cancelled: renew all of them now. */
  | { readonly kind: "renew_now" }
  | { readonly kind: "stop" };

export type FromThread =
  | {
      readonly kind: "ended";
      readonly lease: LeaseToken;
      readonly cause: "cancelled" | "lost" | "held_too_long";
    }
  | { readonly kind: "failed"; readonly message: string };

export interface ThreadOptions {
  readonly url: string;
  readonly applicationName: string;
}

export interface ThreadData extends ThreadOptions {
  readonly tables: readonly SharedArrayBuffer[];
  /** The shortest lease so far; undefined: none. */
  readonly lease_ms: number | undefined;
}

/** With the deliveries, because two deliveries of a message can be held: one lost, one current. */
export function leaseKey(lease: LeaseToken): string {
  return `${lease.message_id}/${lease.deliveries}`;
}

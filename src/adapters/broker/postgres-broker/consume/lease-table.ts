/**
 * A table of held leases in memory that two threads share. Adding a lease does not wake the renewing
 * thread, and most leases are dropped before that thread reads the table.
 *
 * The main thread writes, the renewing thread only reads. A row that changes while it is read may mix
 * the numbers of two leases; no such lease exists in the database, so renewing it changes nothing.
 */
import type { LeaseToken } from "../sql/message-columns.ts";
import type { HeldLease } from "./renewal-protocol.ts";

const fields = 5;

export class LeaseTable {
  readonly buffer: SharedArrayBuffer;
  private readonly taken: Int32Array;
  private readonly values: Float64Array;
  private readonly free: number[];

  constructor(given: number | SharedArrayBuffer) {
    const bytes = Float64Array.BYTES_PER_ELEMENT * (fields + 1);
    this.buffer = typeof given === "number" ? new SharedArrayBuffer(given * bytes) : given;
    const rows = this.buffer.byteLength / bytes;
    this.values = new Float64Array(this.buffer, 0, rows * fields);
    this.taken = new Int32Array(this.buffer, this.values.byteLength, rows);
    this.free = Array.from({ length: rows }, (_, row) => rows - 1 - row);
  }

  /** Answers the row of the lease; undefined: the table is full. */
  hold(
    { message_id, deliveries }: LeaseToken,
    leaseMs: number,
    holdMs: number,
    since: number,
  ): number | undefined {
    const row = this.free.pop();
    if (row === undefined) return undefined;
    const { values } = this;
    let at = row * fields;
    values[at++] = message_id;
    values[at++] = deliveries;
    values[at++] = leaseMs;
    values[at++] = holdMs;
    values[at] = since;
    Atomics.store(this.taken, row, 1);
    return row;
  }

  drop(row: number): void {
    Atomics.store(this.taken, row, 0);
    this.free.push(row);
  }

  read(): (HeldLease & { readonly since: number })[] {
    const leases = [];
    for (let row = 0; row < this.taken.length; row++) {
      if (Atomics.load(this.taken, row) === 0) continue;
      const [message_id = 0, deliveries = 0, lease_ms = 0, hold_ms = 0, since = 0] =
        this.values.subarray(row * fields);
      leases.push({ message_id, deliveries, lease_ms, hold_ms, since });
    }
    return leases;
  }
}

/** Both threads agree on this clock; `performance.now()` alone starts with each thread. */
export function sharedNow(): number {
  return performance.timeOrigin + performance.now();
}

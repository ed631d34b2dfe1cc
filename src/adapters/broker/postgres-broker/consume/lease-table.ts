/**
 * Leases in memory that two threads see: holding one wakes nobody, and most are dropped again before
 * anybody looks.
 *
 * The one that holds writes, the other reads. A row that changes while it is read may be half of two
 * leases; no such lease exists in the database, so renewing it does nothing.
 */
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

  /** Answers its row; undefined: the table is full. */
  hold({ message_id, deliveries, lease_ms, hold_ms }: HeldLease, since: number) {
    const row = this.free.pop();
    if (row === undefined) return undefined;
    this.values.set([message_id, deliveries, lease_ms, hold_ms, since], row * fields);
    Atomics.store(this.taken, row, 1);
    return row;
  }

  drop(row: number): void {
    Atomics.store(this.taken, row, 0);
    this.free.push(row);
  }

  read(): (HeldLease & { readonly since: number })[] {
    const found = [];
    for (let row = 0; row < this.taken.length; row++) {
      if (Atomics.load(this.taken, row) === 0) continue;
      const [message_id = 0, deliveries = 0, lease_ms = 0, hold_ms = 0, since = 0] =
        this.values.subarray(row * fields);
      found.push({ message_id, deliveries, lease_ms, hold_ms, since });
    }
    return found;
  }
}

/** The same for both threads, whose own clocks begin when they do. */
export function sharedNow(): number {
  return performance.timeOrigin + performance.now();
}

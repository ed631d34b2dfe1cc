import { describe, expect, it } from "vitest";
import { LeaseTable } from "./lease-table.ts";

const lease = (message_id: number) => ({ message_id, deliveries: 1 });
const shown = (message_id: number) => ({ ...lease(message_id), lease_ms: 30_000, hold_ms: 9 });

describe("a table of leases", () => {
  it("shows held leases to another thread, and no dropped ones", () => {
    const table = new LeaseTable(4);
    const other = new LeaseTable(table.buffer);
    const first = table.hold(lease(1), 30_000, 9, 100);
    table.hold(lease(2 ** 40), 30_000, 9, 200);
    expect(other.read()).toEqual([
      { ...shown(1), since: 100 },
      { ...shown(2 ** 40), since: 200 },
    ]);
    table.drop(first ?? 0);
    expect(other.read()).toEqual([{ ...shown(2 ** 40), since: 200 }]);
  });

  it("is full when every row is taken, and has room again when one is dropped", () => {
    const table = new LeaseTable(2);
    table.hold(lease(1), 30_000, 9, 0);
    const row = table.hold(lease(2), 30_000, 9, 0);
    expect(table.hold(lease(3), 30_000, 9, 0)).toBeUndefined();
    table.drop(row ?? 0);
    expect(table.hold(lease(3), 30_000, 9, 0)).toBe(row);
    expect(table.read().map(({ message_id }) => message_id)).toEqual([1, 3]);
  });
});

import { describe, expect, it } from "vitest";
import { capacityOf, shareSlots } from "./queue-capacity.ts";

const heavy = { slots: 4, queues: ["tasks", "container"] };
const light = { slots: 4, queues: ["tasks", "function"] };
const depth = { ready: 0, delayed: 0, in_flight: 0 };

describe("the capacity of a queue", () => {
  it("is its share of each worker, not all slots of those workers", () => {
    const full = { ready: 11, delayed: 0, in_flight: 4 };
    expect(capacityOf("tasks", full, [heavy, light])).toEqual({
      workers: 2,
      slots: 4,
      busy: 4,
      waits_for: "slot",
    });
    expect(capacityOf("container", depth, [heavy, light])).toMatchObject({ slots: 2, busy: 0 });
  });

  it("does not count prefetched messages as busy slots", () => {
    expect(capacityOf("tasks", { ...depth, in_flight: 50 }, [heavy]).busy).toBe(2);
  });

  it("says what the queue waits for", () => {
    const waits = (over: Partial<typeof depth>, workers = [heavy]) =>
      capacityOf("tasks", { ...depth, ...over }, workers).waits_for;
    expect(waits({})).toBeNull();
    expect(waits({ ready: 1 }, [])).toBe("worker");
    expect(waits({ ready: 1, in_flight: 2 })).toBe("slot");
    expect(waits({ ready: 1, in_flight: 1 })).toBe("fetch");
    expect(waits({ delayed: 1 })).toBe("delay");
  });

  it("gives each queue of a worker at least one slot", () => {
    expect(shareSlots(1, ["a", "b"])).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(shareSlots(5, ["a", "b"])).toEqual([
      ["a", 3],
      ["b", 2],
    ]);
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { shareReading } from "./share-reading.ts";

describe("a shared reading", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is made once for all that ask while it is made and soon after, and again later", async () => {
    let count = 0;
    const read = shareReading(async () => {
      count += 1;
      const mine = count;
      await sleep(5);
      return mine;
    });
    expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
    expect(await read()).toBe(1);
    await waitFor(async () => (await read()) === 2, { what: "a second reading" });
    expect(count).toBe(2);
  });

  it("is given once more while the next one is made, unless it is old", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const finish: (() => void)[] = [];
    const read = shareReading(async () => {
      await new Promise<void>((resolve) => finish.push(resolve));
      return finish.length;
    });
    const first = read();
    finish[0]?.();
    expect(await first).toBe(1);
    vi.advanceTimersByTime(300);
    expect(await read()).toBe(1);
    expect(finish).toHaveLength(2);
    vi.advanceTimersByTime(2000);
    const late = read();
    finish[1]?.();
    expect(await late).toBe(2);
    expect(finish).toHaveLength(2);
  });

  it("that fails is not kept", async () => {
    let count = 0;
    const read = shareReading(async () => {
      count += 1;
      if (count === 1) throw new Error("the database is away");
      return count;
    });
    await expect(read()).rejects.toThrow("away");
    expect(await read()).toBe(2);
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { shareReading } from "./share-reading.ts";

describe("a shared reading", () => {
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

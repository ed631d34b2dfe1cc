import { expect, it } from "vitest";
import { backoffDelay } from "./backoff.ts";

it("doubles from the first delay to the longest, however many retries there were", () => {
  const delays = [0, 1, 2, 3, 4, 5000].map((retries) => backoffDelay(retries, 10, 100));
  expect(delays).toEqual([10, 20, 40, 80, 100, 100]);
});

it("stays nothing where the first delay is nothing", () => {
  expect(backoffDelay(5000, 0, 100)).toBe(0);
});

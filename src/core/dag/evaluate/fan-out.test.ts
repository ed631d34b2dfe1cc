import { describe, expect, it } from "vitest";
import type { FanInDefinition } from "../../model/workflow.ts";
import { allowedFailures } from "./fan-out.ts";

const fanIn = (budget: Partial<FanInDefinition>): FanInDefinition => ({
  type: "fan_in",
  aggregation: "collect",
  next: [],
  ...budget,
});

describe("the failure budget of a fan-out of ten", () => {
  it.each([
    ["without a fan-in", [], 0],
    ["with a fan-in that names none", [fanIn({})], 0],
    ["of max_failures", [fanIn({ max_failures: 3 })], 3],
    ["of max_failure_percent, rounded down", [fanIn({ max_failure_percent: 25 })], 2],
    ["of max_failure_percent 0", [fanIn({ max_failure_percent: 0 })], 0],
    ["of min_success", [fanIn({ min_success: 8 })], 2],
    ["of min_success 0: all may fail", [fanIn({ min_success: 0 })], 10],
    ["of min_success that cannot be met", [fanIn({ min_success: 11 })], -1],
    ["is the strictest of several", [fanIn({ max_failures: 5, min_success: 9 })], 1],
    ["is the strictest of several fan-ins", [fanIn({ max_failures: 5 }), fanIn({})], 0],
  ] as const)("%s", (_, fanIns, expected) => {
    expect(allowedFailures(fanIns, 10)).toBe(expected);
  });
});

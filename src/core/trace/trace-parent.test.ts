import { describe, expect, it } from "vitest";
import {
  formatTraceParent,
  isTracedChild,
  jobSpanId,
  jobTraceParent,
  parseTraceParent,
  traceIdOf,
} from "./trace-parent.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const given = `00-${traceId}-00f067aa0ba902b7-01`;

describe("trace contexts", () => {
  it("are read and written as the header traceparent", () => {
    const parsed = parseTraceParent(given);
    expect(parsed).toEqual({ traceId, spanId: "00f067aa0ba902b7", sampled: true });
    expect(parsed && formatTraceParent(parsed)).toBe(given);
    expect(parseTraceParent(given.replace(/01$/, "02"))?.sampled).toBe(false);
    expect(parseTraceParent(`cc${given.slice(2)}-what-the-future-brings`)?.traceId).toBe(traceId);
    expect(traceIdOf(given)).toBe(traceId);
  });

  // The cases of the test suite of W3C for servers.
  it.each([
    ["no header", undefined],
    ["an empty header", ""],
    ["version ff", `ff${given.slice(2)}`],
    ["version 00 with more", `${given}-01`],
    ["a version of one digit", given.slice(1)],
    ["capital letters", given.toUpperCase()],
    ["a trace id of zeros", given.replace(traceId, "0".repeat(32))],
    ["a span id of zeros", given.replace("00f067aa0ba902b7", "0".repeat(16))],
    ["a short trace id", given.replace(traceId, traceId.slice(1))],
    ["flags of one digit", given.slice(0, -1)],
    ["two headers in one", `${given}, ${given}`],
  ])("ignore %s", (_, text) => {
    expect(parseTraceParent(text)).toBeUndefined();
    expect(traceIdOf(text)).toBeNull();
  });

  it("give each job a span of its own in the trace of its request", () => {
    // FNV-1a of 64 bits, by its published test vectors.
    expect(jobSpanId("")).toBe("cbf29ce484222325");
    expect(jobSpanId("foobar")).toBe("85944171f73967e8");
    expect(jobTraceParent("foobar", given)).toBe(`00-${traceId}-85944171f73967e8-01`);
    expect(jobTraceParent("foobar", null)).toBeNull();
  });

  it("trace few children of a wide fan-out", () => {
    const traced = (count: number) =>
      Array.from({ length: count }, (_, index) => index).filter(isTracedChild);
    expect(traced(3)).toEqual([0, 1, 2]);
    expect(traced(200).slice(8)).toEqual([8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    expect(traced(10_000)).toHaveLength(37);
  });
});

import { expect, test } from "vitest";
import { jobIds, newJobId } from "./new-job-id.ts";

const hyphened = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

test("a job id is a UUID of version 7 without hyphens", () => {
  const before = Date.now();
  const id = newJobId();
  expect(hyphened(id)).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const time = Number.parseInt(id.slice(0, 12), 16);
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(Date.now());
});

test("the time lies where the example of RFC 9562 has it", () => {
  // Appendix A.6: 017F22E2-79B0-7CC3-98C4-DC0C0C07398F is 2022-02-22 14:22:22 in UTC-5.
  const make = jobIds({ now: () => new Date("2022-02-22T14:22:22.00-05:00") });
  expect(hyphened(make()).slice(0, 15)).toBe("017f22e2-79b0-7");
});

test("ids ascend, also beyond 4,096 in a millisecond and when the clock is set back", () => {
  let now = 1_800_000_000_000;
  const make = jobIds({ now: () => new Date(now) });
  const ids = Array.from({ length: 10_000 }, make);
  now -= 3_600_000;
  ids.push(...Array.from({ length: 10_000 }, make));
  now += 7_200_000;
  ids.push(make());
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(20_001);
});

test("ids of two processes in the same millisecond differ", () => {
  const clock = { now: () => new Date(1_800_000_000_000) };
  expect(jobIds(clock)()).not.toBe(jobIds(clock)());
});

import { describe, expect, it } from "vitest";
import { isDay, isMoment, moment } from "./moment.ts";

describe("a moment", () => {
  it.each([
    "2024-05-01T00:00:00Z",
    "2024-02-29T23:59:59.123456789+15:59",
    "0001-01-02T00:00:00-15:00",
    "2024-05-01T12:00:00-00:00",
  ])("is %s", (text) => {
    expect(isMoment(text)).toBe(true);
    expect(moment.safeParse(text).success).toBe(true);
  });

  it.each([
    ["an offset that PostgreSQL refuses", "2024-05-01T00:00:00+17:11"],
    ["an offset of sixteen hours", "2024-05-01T00:00:00-16:00"],
    ["the year 0", "0000-05-01T00:00:00Z"],
    ["a time that is in the year 0 elsewhere", "0001-01-01T00:00:00+01:00"],
    ["a time that is in the year 10000 elsewhere", "9999-12-31T23:59:59-01:00"],
    ["a day that does not exist", "2023-02-29T00:00:00Z"],
    ["a month that does not exist", "2023-13-01T00:00:00Z"],
    ["an hour that does not exist", "2023-01-01T24:00:00Z"],
    ["a leap second", "2016-12-31T23:59:60Z"],
    ["a time without its place", "2024-05-01T00:00:00"],
    ["words", "yesterday"],
  ])("is not %s", (_what, text) => {
    expect(isMoment(text)).toBe(false);
    expect(moment.safeParse(text).success).toBe(false);
  });
});

it("a day is a day of the calendar", () => {
  expect(["2024-02-29", "2023-02-29", "2024-5-1", "0000-01-01"].map(isDay)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

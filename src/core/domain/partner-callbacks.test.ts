import { describe, expect, it } from "vitest";
import {
  callbackProblem,
  mostAttempts,
  nextDelaySeconds,
  openSeconds,
} from "./partner-callbacks.ts";

const allowed = ["hooks.example.org", "*.partner.net", "other.example:8443", "[2001:db8::1]"];
const problem = (url: string) => callbackProblem(new URL(url), allowed);

describe("where callbacks may go", () => {
  it.each([
    "https://hooks.example.org/a?b",
    "https://HOOKS.example.org:443/",
    "https://a.partner.net/",
    "https://a.b.partner.net/",
    "https://other.example:8443/",
    "https://[2001:db8::1]/",
  ])("is %s", (url) => {
    expect(problem(url)).toBeUndefined();
  });

  it.each([
    "https://example.org/",
    "https://hooks.example.org.evil.net/",
    "https://hooks.example.org:8443/",
    "https://partner.net/",
    "https://evilpartner.net/",
    "https://other.example/",
    "https://user:secret@hooks.example.org/",
    "ftp://hooks.example.org/",
    "https://hooks.example.org@evil.net/",
  ])("is not %s", (url) => {
    expect(problem(url)).toBeDefined();
  });
});

describe("the plan of attempts", () => {
  it("waits longer each time, up to an hour, and ends", () => {
    const waits = Array.from({ length: mostAttempts }, (_, n) => nextDelaySeconds(n + 1));
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2560, undefined]);
  });

  it("leaves a host alone after five failures, longer and longer", () => {
    expect([4, 5, 6, 7, 20].map(openSeconds)).toEqual([undefined, 30, 60, 120, 900]);
  });
});

import { describe, expect, it } from "vitest";
import { allowedPath, parseProxyRule } from "./proxy-rules.ts";

const rules = ["GET /api/v1/jobs/*", "GET /health", "POST /api/v1/commands/**"].map((text) =>
  parseProxyRule(text)!,
);

describe("the proxy's rules", () => {
  it.each([
    ["GET", "health", "/health"],
    ["GET", "api/v1/jobs/a1", "/api/v1/jobs/a1"],
    ["POST", "api/v1/commands/cache.invalidate", "/api/v1/commands/cache.invalidate"],
    ["POST", "api/v1/commands/a/b", "/api/v1/commands/a/b"],
  ])("pass on %s %s", (method, path, asked) => {
    expect(allowedPath(rules, method, path)).toBe(asked);
  });

  it.each([
    ["DELETE", "api/v1/jobs/a1"],
    ["GET", "api/v1/jobs"],
    ["GET", "api/v1/jobs/a1/events"],
    ["POST", "api/v1/commands"],
    ["POST", "api/v1/commands/../bootstrap/rebuild"],
    ["POST", "api/v1/commands/./x"],
    ["POST", "api/v1/commands/a%2f..%2fb"],
    ["POST", "api/v1/commands/a\\b"],
    ["POST", "api/v1/commands/a?x=1"],
    ["POST", "api/v1/commands/a#x"],
    ["POST", "api/v1/commands//a"],
    ["GET", "/health"],
    ["GET", "health "],
    ["GET", "http://other.example/health"],
  ])("refuse %s %s", (method, path) => {
    expect(allowedPath(rules, method, path)).toBeUndefined();
  });

  it.each(["health", "GET health", "TRACE /x", "GET /a/**/b", "GET /a/../b", "GET /a?b"])(
    "are not read from %s",
    (text) => {
      expect(parseProxyRule(text)).toBeUndefined();
    },
  );
});

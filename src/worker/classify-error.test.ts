import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { taskError } from "../core/model/task.ts";
import { classifyError } from "./classify-error.ts";
import { PermanentError, ThrottlingError, TransientError } from "./errors.ts";

const withCode = (code: string) => Object.assign(new Error("x"), { code });
const withStatus = (status: number) => Object.assign(new Error("x"), { status });

it.each([
  ["a permanent error", new PermanentError("no", { code: "NO_CRS" }), "NO_CRS", "permanent"],
  ["a transient error", new TransientError("later"), "TRANSIENT", "transient"],
  ["a throttling error", new ThrottlingError("slow down"), "THROTTLED", "throttling"],
  ["a plain error", new Error("who knows"), "ERROR", "transient"],
  ["a lost connection", withCode("ECONNRESET"), "ECONNRESET", "transient"],
  ["a time-out of the network", withCode("ETIMEDOUT"), "ETIMEDOUT", "transient"],
  [
    "a failed fetch",
    new TypeError("fetch failed", { cause: withCode("ECONNREFUSED") }),
    "ECONNREFUSED",
    "transient",
  ],
  ["an aborted fetch", new DOMException("x", "TimeoutError"), "TimeoutError", "transient"],
  ["too many requests", withStatus(429), "THROTTLED", "throttling"],
  ["an unavailable service", withStatus(503), "THROTTLED", "throttling"],
  ["words about a rate limit", new Error("Rate limit hit"), "THROTTLED", "throttling"],
  ["a bad gateway", withStatus(502), "HTTP_502", "transient"],
  ["not found", withStatus(404), "ERROR", "permanent"],
  ["a mistake in code", new TypeError("x is not a function"), "TypeError", "permanent"],
  ["a value that does not parse", new SyntaxError("bad JSON"), "SyntaxError", "permanent"],
  ["data that does not fit", z.string().safeParse(1).error, "ZodError", "permanent"],
  ["a thrown text", "boom", "THROWN_VALUE", "transient"],
  ["a thrown nothing", undefined, "THROWN_VALUE", "transient"],
  ["a thrown object without text", Object.create(null), "THROWN_VALUE", "transient"],
])("classifies %s", (_, thrown, code, category) => {
  const error = classifyError(thrown);
  expect(error).toMatchObject({ code, category });
  expect(taskError.safeParse(error).success).toBe(true);
});

it("passes on how long to wait", () => {
  expect(classifyError(new ThrottlingError("x", { retryAfterSeconds: 9 })).details).toEqual({
    retry_after_seconds: 9,
  });
});

it("makes any message and any details storable", () => {
  const error = classifyError(
    new PermanentError(`a\0b${"x".repeat(20_000)}`, { details: { bad: "\0" } }),
  );
  expect(taskError.safeParse(error).success).toBe(true);
  expect(error.message).not.toContain("\0");
  expect(error.details).toBeUndefined();
});

it("has one code for a full disk, and says what helps", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
    code: "ENOSPC",
  });
  expect(classifyError(full)).toMatchObject({
    code: "DISK_FULL",
    category: "transient",
    message: expect.stringContaining("larger disk") as string,
  });
});

it("shows partners neither paths nor credentials of the machine", async () => {
  const missing = await readFile("/srv/rmhdag/work/7/source.tif").catch((error: unknown) => error);
  expect(classifyError(missing).message).toBe(
    "ENOENT: no such file or directory, open 'source.tif'",
  );
  const lost = new Error("cannot connect to postgres://worker:secret@db.internal/site");
  expect(classifyError(lost).message).not.toContain("secret");
  const known = new PermanentError('"bronze/a/b.tif" is not there');
  expect(classifyError(known).message).toBe('"bronze/a/b.tif" is not there');
});

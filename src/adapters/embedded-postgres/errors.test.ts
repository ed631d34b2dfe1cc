import { expect, it } from "vitest";
import { isTransient, throwUnlessRetryable } from "./errors.ts";
import { layoutOf } from "./layout.ts";

const layout = layoutOf("/data");
const bind = `LOG:  could not bind IPv4 address "127.0.0.1": Address already in use`;

it("tries another port when one was taken, but not for ever", () => {
  expect(() => {
    throwUnlessRetryable(bind, layout, true);
  }).not.toThrow();
  expect(() => {
    throwUnlessRetryable(bind, layout, false);
  }).toThrow(expect.objectContaining({ code: "PORT_IN_USE" }) as Error);
});

it("looks again when another process was faster", () => {
  const output = `FATAL:  lock file "postmaster.pid" already exists`;
  expect(() => {
    throwUnlessRetryable(output, layout, true);
  }).not.toThrow();
});

it("names a full disk", () => {
  const output = `PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device`;
  expect(() => {
    throwUnlessRetryable(output, layout, true);
  }).toThrow(expect.objectContaining({ code: "DISK_FULL" }) as Error);
});

it("shows the end of the log, and where the rest is", () => {
  const output = Array.from({ length: 50 }, (_, line) => `line ${line}`).join("\n");
  expect(() => {
    throwUnlessRetryable(output, layout, true);
  }).toThrow(/\/data\/server\.log\):\nline 38\n(.*\n)*line 49$/);
});

it("waits for a server that starts, and not for one that refuses", () => {
  const withCode = (code: string) => Object.assign(new Error("no"), { code });
  expect(["57P03", "ECONNREFUSED"].map((code) => isTransient(withCode(code)))).toEqual([
    true,
    true,
  ]);
  expect(["28P01", "3D000"].map((code) => isTransient(withCode(code)))).toEqual([false, false]);
  expect(isTransient(new Error("Connection terminated unexpectedly"))).toBe(true);
});

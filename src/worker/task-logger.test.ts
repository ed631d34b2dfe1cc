import { expect, it } from "vitest";
import { createLogger } from "../adapters/runtime/logger.ts";
import { Mask } from "../core/model/mask.ts";
import type { LogLine } from "./reporter.ts";
import { createTaskLogger } from "./task-logger.ts";

it("hides the secrets of a task in its lines, whatever a handler logs", () => {
  const lines: LogLine[] = [];
  const logger = createTaskLogger(
    createLogger({ name: "test", level: "silent", format: "json" }),
    { task_id: "t" },
    (line) => lines.push(line),
    new Mask(["hush-hush", 4711, { nested: ["deep-secret"] }]),
  );
  logger.info("calling with hush-hush", { url: "https://x.test/?k=hush-hush", pin: 4711 });
  logger.warn("quiet", { deep: [{ a: "deep-secret" }] });
  const text = JSON.stringify(lines);
  expect(text).not.toMatch(/hush-hush|4711|deep-secret/);
  expect(lines[0]?.message).toBe("calling with ••••••••");
});

it("keeps the program's and the task's fields whatever names a handler's fields have", () => {
  const printed: string[] = [];
  const destination = { write: (line: string) => printed.push(line) };
  const open = (format: "json" | "text") =>
    createTaskLogger(
      createLogger({ name: "my.greet", level: "info", format, destination }),
      { task_id: "t" },
      () => undefined,
    );
  const fields = { name: "Ada", pid: 1, level: "high", task_id: "other", size: 3 };
  open("json").info("greeting", fields);
  open("text").info("greeting", fields);
  expect(JSON.parse(printed[0]!)).toMatchObject({
    name: "my.greet",
    pid: process.pid,
    level: 30,
    task_id: "t",
    size: 3,
    data: { name: "Ada", pid: 1, level: "high" },
  });
  // A name that stands twice would be read in one way by one program and otherwise by another.
  expect(printed[0]!.match(/"name":/g)).toHaveLength(2);
  expect(printed[1]).toContain(` my.greet[${process.pid}] greeting `);
});

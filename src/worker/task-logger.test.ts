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

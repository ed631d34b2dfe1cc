import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { compile } from "../../core/dag/compile/compile.ts";
import { findingCodes } from "../../core/dag/finding.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { taskQueues } from "../../core/queues.ts";
import { readWorkflow } from "./read-workflow.ts";

let page = "";
beforeAll(async () => {
  page = await readFile("docs/workflow-language.md", "utf8");
});

describe("the page on the workflow language", () => {
  it("shows only workflows that validate", () => {
    const examples = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
    expect(examples.length).toBeGreaterThan(4);
    for (const text of examples) {
      const { tree, findings } = readWorkflow(text);
      const { findings: more } = compile(tree, {
        handlers: handlerCatalogue,
        queues: new Set(taskQueues),
        env: new Set<string>(),
        workflowId: "example",
      });
      expect([text, ...findings, ...more]).toEqual([text]);
    }
  });

  it("lists every code that validate can print, as it is defined", () => {
    const listed = [...page.matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\|$/gm)].map(
      ([, code, meaning]) => [code, meaning],
    );
    expect(listed).toEqual(Object.entries(findingCodes));
  });
});

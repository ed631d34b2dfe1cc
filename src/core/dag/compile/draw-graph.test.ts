import { expect, it } from "vitest";
import { handlerCatalogue } from "../../handlers/index.ts";
import { taskQueues } from "../../queues.ts";
import { compile } from "./compile.ts";
import { drawMermaid, drawText } from "./draw-graph.ts";

const { graph } = compile(
  {
    workflow_id: "choice",
    nodes: {
      c: {
        type: "conditional",
        condition: '{{ inputs.a }} < 3 and {{ inputs.b }} == "x"',
        on_true: "d",
        on_false: "END",
      },
      d: { handler: "echo", depends_on: { any_of: ["c"] } },
    },
  },
  { handlers: handlerCatalogue, queues: new Set(taskQueues), env: new Set() },
);

it("draws a choice as text, with the condition of each branch", () => {
  expect(drawText(graph!).split("\n")).toEqual([
    "choice (version 1)",
    "  @start: start → c",
    '  c: conditional → d [{{ inputs.a }} < 3 and {{ inputs.b }} == "x"], @end [default]',
    "  d: echo on functionapp-tasks (any_of) → @end",
    "  @end: end",
    "",
  ]);
});

it("escapes conditions for Mermaid, where a quote would end the label", () => {
  expect(drawMermaid(graph!)).toContain(
    'n1 -->|"{{ inputs.a }} &lt; 3 and {{ inputs.b }} == &quot;x&quot;"| n2',
  );
});

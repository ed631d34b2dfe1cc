import { describe, expect, it } from "vitest";
import { handlerCatalogue } from "../handlers.ts";
import { taskQueues } from "../queues.ts";
import { compile } from "./compile.ts";

const options = {
  handlers: handlerCatalogue,
  queues: new Set(taskQueues),
  env: new Set<string>(),
  workflowId: "test",
};

describe("a graph", () => {
  it("gets the start and the end that the author left out", () => {
    const { findings, graph } = compile(
      { nodes: { a: { handler: "echo", next: "b" }, b: { handler: "echo", next: "END" } } },
      options,
    );
    expect(findings).toEqual([]);
    expect(graph!.nodes.map((node) => node.id)).toEqual(["@start", "a", "b", "@end"]);
  });
});

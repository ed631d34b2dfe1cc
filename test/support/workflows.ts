import { compile } from "../../src/core/dag/compile/compile.ts";
import type { Graph } from "../../src/core/dag/graph.ts";
import type { HandlerContract } from "../../src/core/handlers/index.ts";
import { handlerCatalogue } from "../../src/core/handlers/index.ts";
import { taskQueues } from "../../src/core/queues.ts";

/** A graph from a tree as an author would write it; any finding fails the test with its text. */
export function graphOf(tree: unknown, own: readonly HandlerContract[] = []): Graph {
  const { graph, findings } = compile(tree, {
    handlers: new Map([...handlerCatalogue, ...own.map((each) => [each.name, each] as const)]),
    queues: new Set([...taskQueues, ...own.map(({ queue }) => queue)]),
    env: new Set(),
    workflowId: "test",
  });
  if (graph === undefined) {
    throw new Error(findings.map((f) => `${f.path.join(".")} ${f.code} ${f.message}`).join("\n"));
  }
  return graph;
}

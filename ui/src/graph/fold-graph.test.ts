import { describe, expect, it } from "vitest";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import { foldGraph } from "./fold-graph.ts";

function graphOf(links: readonly (readonly [from: string, to: string])[]): WorkflowGraph {
  const ids = new Set(links.flat());
  return {
    nodes: [...ids].map((node_id) => ({
      node_id,
      node_type: "task",
      name: null,
      join: "all_of",
      handler: "tile",
      queue: null,
    })),
    edges: links.map(([from, to], at) => ({ from, to, label: `branch ${at}`, branches: [at] })),
  };
}

function chain(length: number): WorkflowGraph {
  const ids = ["@start", ...Array.from({ length }, (_, at) => `s${at}`), "@end"];
  return graphOf(ids.slice(1).map((to, at) => [ids[at]!, to] as const));
}

function row(branches: number, length: number): WorkflowGraph {
  return graphOf(
    Array.from({ length: branches }, (_, branch) => {
      const ids = ["begin", ...Array.from({ length }, (_, at) => `b${branch}.${at}`), "end"];
      return ids.slice(1).map((to, at) => [ids[at]!, to] as const);
    }).flat(),
  );
}

const none = new Set<string>();
const idsOf = ({ nodes }: WorkflowGraph) => nodes.map(({ node_id }) => node_id);
const edgesOf = ({ edges }: WorkflowGraph) => edges.map(({ from, to }) => `${from}>${to}`);

describe("folding a graph", () => {
  it("folds the middle of a long chain", () => {
    const folded = foldGraph(chain(14), none);
    expect(idsOf(folded)).toEqual(["@start", "s0", "s1", "fold s2", "s12", "s13", "@end"]);
    expect(folded.folds.get("fold s2")).toMatchObject({ kind: "chain" });
    expect(folded.folds.get("fold s2")?.hidden).toHaveLength(10);
    expect(edgesOf(folded)).toContain("s1>fold s2");
    expect(folded.edges).toHaveLength(folded.nodes.length - 1);
  });

  it("leaves a chain that was opened, and a short one", () => {
    const graph = chain(14);
    expect(foldGraph(graph, new Set(["fold s2"])).nodes).toEqual(graph.nodes);
    expect(foldGraph(chain(6), none).folds.size).toBe(0);
  });

  it.each([1, 2])("folds the rest of a row of branches of %i nodes, with one edge", (length) => {
    const folded = foldGraph(row(18, length), none);
    const id = "fold b3.0";
    expect([...folded.folds.keys()]).toEqual([id]);
    expect(folded.folds.get(id)?.hidden).toHaveLength(15 * length);
    expect(edgesOf(folded).filter((edge) => edge.includes("fold"))).toEqual([
      `begin>${id}`,
      `${id}>end`,
    ]);
    const edge = folded.edges.find(({ to }) => to === id);
    expect(edge?.label).toBeNull();
    expect(edge?.branches).toHaveLength(15);
  });

  it("leaves branches that differ, and rows of few", () => {
    expect(foldGraph(row(5, 1), none).folds.size).toBe(0);
    const graph = row(8, 1);
    const nodes = graph.nodes.map((node, at) => ({ ...node, handler: `handler ${at}` }));
    expect(foldGraph({ ...graph, nodes }, none).folds.size).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import type { WorkflowGraph } from "../../core/api/workflows.ts";
import { arrangeNodes } from "./arrange-nodes.ts";

/** `a>b b>c`; names S and E are the start and the end. */
function graph(text: string): WorkflowGraph {
  const edges = text.split(" ").map((edge) => {
    const [from = "", to = ""] = edge.split(">");
    return { from, to, label: null, branches: null };
  });
  const ids = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  return {
    edges,
    nodes: ids.map((id) => ({
      node_id: id,
      node_type: id === "S" ? "start" : id === "E" ? "end" : "task",
      name: null,
      join: "all_of",
      handler: null,
      queue: null,
    })),
  };
}

function drawn(text: string): string[] {
  return arrangeNodes(graph(text)).map(({ lead, nodeId }) => lead + nodeId);
}

describe("arrangeNodes", () => {
  it("keeps a chain in one column, without start and end", () => {
    expect(drawn("S>a a>b b>c c>E")).toEqual(["a", "b", "c"]);
  });

  it("hangs branches under their fork and comes back where they meet", () => {
    expect(drawn("S>fork fork>x fork>y x>meet y>meet meet>E")).toEqual([
      "fork",
      "├─ x",
      "└─ y",
      "meet",
    ]);
  });

  it("continues a branch of several nodes below its first", () => {
    expect(
      drawn("S>route route>direct route>tiles tiles>merge direct>end merge>end end>E"),
    ).toEqual(["route", "├─ direct", "└─ tiles", "   merge", "end"]);
  });

  it("nests forks", () => {
    expect(drawn("S>a a>b a>c b>d b>e d>f e>f f>j c>j j>E")).toEqual([
      "a",
      "├─ b",
      "│  ├─ d",
      "│  └─ e",
      "│  f",
      "└─ c",
      "j",
    ]);
  });

  it("puts independent beginnings side by side", () => {
    expect(drawn("S>a S>b a>c b>d c>E d>E")).toEqual(["a", "c", "b", "d"]);
  });

  it("names every node once, after all that it depends on", () => {
    // Each node depends on one to three before it, chosen by a fixed sequence.
    const edges = ["S>n0"];
    for (let index = 1; index < 200; index++) {
      for (const step of [1, (index * 7) % 13, (index * 5) % 31]) {
        const from = index - step;
        if (step > 0 && from >= 0) edges.push(`n${from}>n${index}`);
      }
    }
    const { edges: all, nodes } = graph(edges.join(" "));
    const rows = arrangeNodes({ edges: all, nodes }).map(({ nodeId }) => nodeId);
    expect(rows.toSorted()).toEqual(
      nodes
        .map((n) => n.node_id)
        .slice(1)
        .toSorted(),
    );
    const place = new Map(rows.map((id, index) => [id, index]));
    const backwards = all.filter(({ from, to }) => (place.get(from) ?? -1) >= place.get(to)!);
    expect(backwards).toEqual([]);
  });

  it("needs no deep stack for a long chain", () => {
    const chain = Array.from({ length: 20_000 }, (_, index) => `n${index}>n${index + 1}`);
    expect(arrangeNodes(graph(chain.join(" "))).length).toBe(20_001);
  });
});

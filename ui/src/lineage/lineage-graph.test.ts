import { expect, it } from "vitest";
import { lineageGraph } from "./lineage-graph.ts";

it("labels things by their last name, unless two have the same", () => {
  const node = (kind: "file" | "item" | "version", id: string) => ({ kind, id, distance: 0 });
  const nodes = [
    node("file", "bronze/dem.tif"),
    node("file", "silver/job/dem.tif"),
    node("item", "terrain/a-v0"),
    node("version", "a/0"),
  ];
  const [source, made, item] = nodes;
  const { graph, things } = lineageGraph({
    nodes,
    edges: [
      { from: source!, to: made!, relation: "made_into" },
      { from: made!, to: item!, relation: "described_by" },
    ],
  });
  expect(graph.nodes.map(({ node_id }) => node_id)).toEqual([
    "file bronze/dem.tif",
    "file silver/job/dem.tif",
    "a-v0",
    "a v0",
  ]);
  expect(graph.edges.map(({ from, to, label }) => [from, label, to])).toEqual([
    ["file bronze/dem.tif", "made into", "file silver/job/dem.tif"],
    ["file silver/job/dem.tif", "described by", "a-v0"],
  ]);
  expect(things.get("a-v0")).toEqual({ kind: "item", id: "terrain/a-v0" });
});

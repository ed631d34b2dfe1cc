import { taskOf } from "../../model/workflow.ts";
import type { Edge, Graph, GraphNode } from "../graph.ts";

/** Draws one line for each node, in an order in which they could run. */
export function drawText({ definition, nodes }: Graph): string {
  const lines = nodes.map((node) => {
    const targets = node.outgoing.map((edge) => edge.to.id + label(edge, " [", "]"));
    const join = node.join === "any_of" ? " (any_of)" : "";
    const arrow = targets.length > 0 ? ` → ${targets.join(", ")}` : "";
    return `  ${node.id}: ${describe(node)}${join}${arrow}`;
  });
  return [`${definition.workflow_id} (version ${definition.version})`, ...lines, ""].join("\n");
}

/** Draws a Mermaid flowchart, which GitHub and many editors show as a picture. */
export function drawMermaid({ nodes }: Graph): string {
  const lines = nodes.map((node) => {
    const [open, close] = shapes[node.type];
    return `  n${node.position}${open}"${escape(`${node.id}<br/>${describe(node)}`)}"${close}`;
  });
  const edges = nodes.flatMap((node) =>
    node.outgoing.map((edge) => {
      const text = escape(label(edge, "", ""));
      const arrow = text === "" ? "-->" : `-->|"${text}"|`;
      return `  n${edge.from.position} ${arrow} n${edge.to.position}`;
    }),
  );
  return ["flowchart TD", ...lines, ...edges, ""].join("\n");
}

const shapes = {
  start: ["([", "])"],
  end: ["([", "])"],
  task: ["[", "]"],
  conditional: ["{{", "}}"],
  fan_out: ["[/", "\\]"],
  fan_in: ["[\\", "/]"],
} as const;

function describe(node: GraphNode): string {
  if (node.type === "fan_in") return `fan_in ${node.definition.aggregation}`;
  const task = taskOf(node.definition);
  if (task === undefined) return node.type;
  const prefix = node.type === "task" ? "" : `${node.type} of `;
  return `${prefix}${task.handler} on ${task.queue}`;
}

/** Names the branches that lead along an edge, by name or by condition. */
function label({ from, branches }: Edge, before: string, after: string): string {
  if (from.type !== "conditional" || branches === undefined) return "";
  const names = branches.map((branch) => {
    const { name, condition } = from.definition.branches[branch] ?? {};
    return name ?? condition ?? "default";
  });
  return `${before}${names.join(" or ")}${after}`;
}

/** Mermaid reads labels as quoted HTML, and conditions hold quotes and comparison signs. */
function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("&lt;br/&gt;", "<br/>");
}

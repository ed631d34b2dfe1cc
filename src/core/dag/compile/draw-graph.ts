import type { Edge, Graph, GraphNode } from "./graph.ts";

/** One line a node, in the order in which they could run. */
export function drawText({ definition, nodes }: Graph): string {
  const lines = nodes.map((node) => {
    const targets = node.outgoing.map((edge) => edge.to.id + label(edge, " [", "]"));
    const join = node.join === "any_of" ? " (any_of)" : "";
    const arrow = targets.length > 0 ? ` → ${targets.join(", ")}` : "";
    return `  ${node.id}: ${what(node)}${join}${arrow}`;
  });
  return [`${definition.workflow_id} (version ${definition.version})`, ...lines, ""].join("\n");
}

/** For GitHub, editors and mermaid.live. */
export function drawMermaid({ nodes }: Graph): string {
  const lines = nodes.map((node) => {
    const [open, close] = shapes[node.type];
    return `  n${node.position}${open}"${escape(`${node.id}<br/>${what(node)}`)}"${close}`;
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

function what(node: GraphNode): string {
  switch (node.type) {
    case "task":
      return `${node.definition.handler} on ${node.definition.queue}`;
    case "fan_out":
      return `fan_out of ${node.definition.task.handler} on ${node.definition.task.queue}`;
    case "fan_in":
      return `fan_in ${node.definition.aggregation}`;
    default:
      return node.type;
  }
}

/** The branches that lead along an edge, by their conditions. */
function label({ from, branches }: Edge, before: string, after: string): string {
  if (from.type !== "conditional" || branches === undefined) return "";
  const names = branches.map((branch) => {
    const { name, condition } = from.definition.branches[branch] ?? {};
    return name ?? condition ?? "default";
  });
  return `${before}${names.join(" or ")}${after}`;
}

/** Labels are quoted HTML to Mermaid; a condition is full of quotes and comparison signs. */
function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("&lt;br/&gt;", "<br/>");
}

import type { Json } from "../../model/json.ts";
import type {
  ConditionalDefinition,
  FanInDefinition,
  FanOutDefinition,
  NodeDefinition,
  WorkflowDefinition,
} from "../../model/workflow.ts";
import type { Condition } from "../language/condition.ts";
import { parseCondition } from "../language/condition.ts";
import type { Edge, Graph, GraphNode } from "../graph.ts";
import { secretNames } from "../secrets.ts";
import { topologicalOrder } from "../source/order.ts";
import type { Template, TemplateParser } from "../language/template.ts";
import { parseTemplate } from "../language/template.ts";

type Mutable<Type> = Type extends GraphNode
  ? Omit<{ -readonly [Key in keyof Type]: Type[Key] }, "incoming" | "outgoing"> & {
      incoming: Edge[];
      outgoing: Edge[];
    }
  : never;

/**
 * Builds the graph of a definition. A stored definition was checked when it was stored, so an error
 * here is a mistake in this program and throws. The graph does not depend on the order of the
 * definition's keys, because a jsonb column does not keep it.
 */
export function compileDefinition(
  definition: WorkflowDefinition,
  parse: TemplateParser = parseTemplate,
): Graph {
  const ids = Object.keys(definition.nodes).sort();
  const index = new Map(ids.map((id, position) => [id, position]));
  const definitions = ids.map((id) => required(definition.nodes[id], id));
  const drawn = drawEdges(definitions, (id) => required(index.get(id), id));
  const order = topologicalOrder(drawn.map((targets) => [...targets.keys()]));
  if (order.length < ids.length) throw new Error(`${definition.workflow_id} has a cycle`);

  const built: Mutable<GraphNode>[] = [];
  const nodes = order.map((place, position) => {
    const node = makeNode(
      required(ids[place], "id"),
      position,
      required(definitions[place], "node"),
      parse,
    );
    built[place] = node;
    return node;
  });
  // In topological order, so that incoming edges stand in the order of their sources.
  for (const place of order) {
    for (const [target, branches] of required(drawn[place], "edges")) {
      const from = required(built[place], "from");
      const to = required(built[target], "to");
      const isAny = to.definition.depends_on?.any_of?.includes(from.id) === true;
      const edge: Edge = { from, to, branches, isAny };
      from.outgoing.push(edge);
      to.incoming.push(edge);
    }
  }
  for (const node of nodes) if (node.type === "fan_out") node.fanIns = fanInsBehind(node.outgoing);
  return {
    definition,
    nodes,
    byId: new Map(nodes.map((node) => [node.id, node])),
    outputs: definition.outputs === undefined ? undefined : template(definition.outputs, parse),
    results: resultNodes(nodes),
    secrets: secretNames(definition),
  };
}

/**
 * Lists the targets of each node, with the branches that lead there. A node that names a conditional
 * only in its `depends_on` follows whichever branch is taken, so that edge names no branches.
 */
function drawEdges(
  definitions: readonly NodeDefinition[],
  place: (id: string) => number,
): Map<number, readonly number[] | undefined>[] {
  const drawn = definitions.map(() => new Map<number, readonly number[] | undefined>());
  for (const [here, node] of definitions.entries()) {
    const targets = required(drawn[here], "targets");
    if (node.type === "conditional") {
      for (const [branch, { next }] of node.branches.entries()) {
        for (const to of new Set(next.map(place))) {
          targets.set(to, [...(targets.get(to) ?? []), branch]);
        }
      }
    } else if (node.type !== "end") {
      for (const to of node.next) targets.set(place(to), undefined);
    }
  }
  for (const [here, node] of definitions.entries()) {
    const { nodes: before = [], any_of = [] } = node.depends_on ?? {};
    for (const from of [...before, ...any_of]) {
      const targets = required(drawn[place(from)], "targets");
      if (!targets.has(here)) targets.set(here, undefined);
    }
  }
  return drawn;
}

function makeNode(
  id: string,
  position: number,
  definition: NodeDefinition,
  parse: TemplateParser,
): Mutable<GraphNode> {
  const join: "all_of" | "any_of" = definition.depends_on?.mode ?? "all_of";
  const common = { id, position, join, incoming: [], outgoing: [] };
  switch (definition.type) {
    case "start":
      return { ...common, type: "start", definition };
    case "end":
      return { ...common, type: "end", definition };
    case "task":
      return { ...common, type: "task", definition, params: template(definition.params, parse) };
    case "conditional":
      return {
        ...common,
        type: "conditional",
        definition,
        field:
          definition.condition_field === undefined
            ? undefined
            : template(definition.condition_field, parse),
        conditions: conditions(definition),
      };
    case "fan_out":
      return {
        ...common,
        type: "fan_out",
        definition,
        source: fanOutSource(definition, parse),
        params: template(definition.task.params, parse),
        fanIns: [],
      };
    case "fan_in":
      return { ...common, type: "fan_in", definition };
  }
}

function conditions(definition: ConditionalDefinition): (Condition | undefined)[] {
  const form = definition.condition_field === undefined ? "whole" : "short";
  return definition.branches.map((branch) => {
    if (branch.condition === undefined) return undefined;
    const parsed = parseCondition(branch.condition, form);
    if (!parsed.ok) throw new Error(`condition ${branch.condition} cannot be parsed`);
    return parsed.condition;
  });
}

function fanOutSource(
  { source }: FanOutDefinition,
  parse: TemplateParser,
): Template | readonly Json[] {
  return typeof source === "string" || JSON.stringify(source).includes("{{")
    ? template(source, parse)
    : source;
}

function template(value: Json, parse: TemplateParser): Template {
  const parsed = parse(value);
  if (!parsed.ok) throw new Error(`template ${JSON.stringify(value)} cannot be parsed`);
  return parsed.template;
}

function fanInsBehind(outgoing: readonly Edge[]): FanInDefinition[] {
  return outgoing.flatMap(({ to }) => (to.type === "fan_in" ? [to.definition] : []));
}

/** Whether the output of a node can be a part of the job's result. */
const givesResult: Readonly<Record<GraphNode["type"], boolean>> = {
  start: false,
  end: false,
  task: true,
  conditional: false,
  fan_out: false,
  fan_in: true,
};

/** The nodes that give a result and that no other such node follows. */
function resultNodes(nodes: readonly GraphNode[]): GraphNode[] {
  const gives = (node: GraphNode): boolean => givesResult[node.type];
  const followed = new Set<GraphNode>();
  for (const node of nodes.toReversed()) {
    const behind = node.outgoing.some(({ to }) => gives(to) || followed.has(to));
    if (behind) followed.add(node);
  }
  return nodes.filter((node) => gives(node) && !followed.has(node));
}

function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`the definition names ${what}, which it does not have`);
  return value;
}

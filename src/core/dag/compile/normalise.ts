import type { HandlerContract } from "../../handlers/contract.ts";
import { nameParams } from "../../handlers/parameters.ts";
import type { JsonObject } from "../../model/json.ts";
import type {
  ConditionalDefinition,
  Dependencies,
  NodeDefinition,
  NodeSource,
  TaskTemplate,
  WorkflowDefinition,
} from "../../model/workflow.ts";
import { retryPolicy } from "../../model/workflow.ts";
import { allInputs, implyParams } from "../lint/implied-params.ts";
import { readSecretParams } from "../secrets.ts";
import type { Links } from "../source/links.ts";
import { implicitEnd, implicitNode, implicitStart } from "../source/links.ts";
import type { Source } from "../source/read-source.ts";

const defaultRetry = retryPolicy.parse({});

type TaskSource = Omit<Extract<NodeSource, { type: "task" }>, "type" | "next">;
type ConditionalSource = Extract<NodeSource, { type: "conditional" }>;

/**
 * Writes the one form of a workflow that is stored. It spells out everything that could change
 * while a job runs: the handler's own name, queue and timeout, the names of its parameters and those
 * that it takes from earlier nodes, the retry defaults, and the start and end that the author left
 * out. Call it only for a source without errors.
 */
export function normalise(
  source: Source,
  links: Links,
  workflowId: string,
  handlers: ReadonlyMap<string, HandlerContract>,
): WorkflowDefinition {
  const nodes: [string, NodeDefinition][] = [];
  if (!links.hasStart) {
    const roots = links.ids.filter((_, index) => links.incoming[index]?.length === 0);
    nodes.push([implicitStart, { type: "start", next: roots }]);
  }
  for (const [id, node] of source.nodes) {
    if (node.parsed === undefined) throw new Error(`node ${id} was not parsed`);
    nodes.push([id, normaliseNode(id, node.parsed)]);
  }
  if (!links.hasEnd) {
    const sinks = links.ids.filter((_, index) => links.outgoing[index]?.length === 0);
    nodes.push([implicitEnd, { type: "end", depends_on: { mode: "all_of", nodes: sinks } }]);
  }
  const { head, inputs } = source;
  return withoutUndefined({
    workflow_id: workflowId,
    name: head?.name ?? workflowId,
    description: head?.description,
    version: head?.version ?? "1",
    inputs: inputs === undefined ? undefined : Object.fromEntries(inputs),
    nodes: Object.fromEntries(nodes),
    outputs: head?.outputs,
  });

  function normaliseNode(id: string, node: NodeSource): NodeDefinition {
    const { depends_on } = node;
    const common = depends_on === undefined ? {} : { depends_on: resolveAll(depends_on) };
    switch (node.type) {
      case "start":
        return { ...node, ...common, next: follow(node.next) };
      case "end":
        return { ...node, ...common };
      case "task":
        return { ...node, ...common, ...task(id, node), next: follow(node.next) };
      case "conditional":
        return { ...conditional(node), ...common };
      case "fan_out":
        return { ...node, ...common, task: task(id, node.task), next: follow(node.next) };
      case "fan_in":
        return { ...node, ...common, next: follow(node.next) };
    }
  }

  function task(id: string, written: TaskSource): TaskTemplate {
    const contract = handlers.get(written.handler);
    if (contract === undefined) throw new Error(`handler ${written.handler} is not known`);
    const { params, secret_params } =
      typeof written.params === "string"
        ? { params: written.params, secret_params: [] }
        : readSecretParams(written.params ?? {});
    return {
      handler: contract.name,
      queue: written.queue ?? contract.queue,
      params: nameAll(id, contract, written.params === undefined ? undefined : params),
      ...(secret_params.length === 0 ? {} : { secret_params: ownNames(contract, secret_params) }),
      timeout_seconds: written.timeout_seconds ?? contract.timeout_seconds,
      retry: written.retry ?? contract.retry ?? defaultRetry,
    };
  }

  /** The secret parameters under the contract's names, by which they are hidden. */
  function ownNames(contract: HandlerContract, names: readonly string[]): string[] {
    const all = Object.fromEntries(names.map((name) => [name, null]));
    return Object.keys(nameParams(contract, all).params);
  }

  function nameAll(
    id: string,
    contract: HandlerContract,
    written: JsonObject | string | undefined,
  ): TaskTemplate["params"] {
    if (typeof written === "string") return written;
    const named = written && nameParams(contract, written).params;
    const implied = implyParams(id, contract, named, { source, links, handlers });
    return implied === allInputs ? allInputs : { ...implied, ...named };
  }

  function conditional(node: ConditionalSource): ConditionalDefinition {
    const { condition, on_true, on_false, branches, ...rest } = node;
    if (condition !== undefined) {
      return {
        ...rest,
        branches: [{ condition, next: follow(on_true ?? []) }, { next: follow(on_false ?? []) }],
      };
    }
    return {
      ...rest,
      branches: (branches ?? []).map(({ name, condition, next }) =>
        withoutUndefined({ name, condition, next: follow(next) }),
      ),
    };
  }

  function follow(names: readonly string[]): string[] {
    return names.map((name) => resolve(name, "next"));
  }

  function resolveAll({ mode, nodes, any_of }: Dependencies): Dependencies {
    const names = (each: readonly string[]) => each.map((name) => resolve(name, "depends_on"));
    const all = { mode, nodes: names(nodes) };
    return any_of === undefined ? all : { ...all, any_of: names(any_of) };
  }

  function resolve(name: string, side: "next" | "depends_on"): string {
    if (links.index.has(name)) return name;
    return implicitNode(name, side) ?? name;
  }
}

/**
 * Drops keys whose value is undefined: JSON cannot hold them, and the content hash must not see
 * them.
 */
function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(
    Object.entries(value).filter(([, each]) => each !== undefined),
  ) as Value;
}

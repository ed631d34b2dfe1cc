import { z } from "zod";
import type { HandlerContract } from "../../handlers/contract.ts";
import type { ImpliedParameter } from "../../handlers/implied.ts";
import { impliedParameters } from "../../handlers/implied.ts";
import type { JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Links } from "../source/links.ts";
import type { Source } from "../source/read-source.ts";
import { taskSourceOf } from "../source/read-source.ts";

/** Stands for the parameters of a task that takes all inputs of its job. */
export const allInputs = "{{ inputs }}";

export interface Surroundings {
  readonly source: Source;
  readonly links: Links;
  readonly handlers: ReadonlyMap<string, HandlerContract>;
}

/** Earlier tasks that are asked for a value, the nearest first; the last may not be missing. */
const mostAsked = 4;

/**
 * The parameters that a task takes without its author writing them, as templates. `written` has the
 * parameters under the contract's names, or is undefined if the task has no `params`.
 */
export function implyParams(
  id: string,
  contract: HandlerContract,
  written: JsonObject | undefined,
  around: Surroundings,
): JsonObject | typeof allInputs {
  const rules = Object.hasOwn(impliedParameters, contract.name)
    ? impliedParameters[contract.name]
    : undefined;
  if (rules === "inputs") {
    const isTask = around.source.nodes.get(id)?.type === "task";
    return isTask && written === undefined ? allInputs : {};
  }
  const given = new Set(Object.keys(written ?? {}));
  const implied: Record<string, string> = {};
  for (const [name, rule] of Object.entries(rules ?? {})) {
    if (given.has(name) || rule.unless?.some((other) => given.has(other)) === true) continue;
    const asked = nearestWith(rule.outputs ?? [], id, around);
    if (asked.length > 0) given.add(name);
    const found = asked.length > 0 ? asked : otherSources(rule, around.source);
    if (found.length === 0) continue;
    implied[name] = `{{ ${chain(rule.optional === true ? [...found, "none"] : found)} }}`;
  }
  return implied;
}

function otherSources({ before, inputs = [] }: ImpliedParameter, source: Source): string[] {
  if (before !== undefined) {
    return before.length === 0
      ? ["upstream.output"]
      : before.map((name) => `upstream.output.${name}`);
  }
  return inputs
    .filter((name) => source.inputs === undefined || source.inputs.has(name))
    .map((name) => `inputs.${name}`);
}

/** `a | default(b | default(c))`: the first of these that there is. */
function chain([first = "none", ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} | default(${chain(others)})`;
}

function nearestWith(members: readonly string[], id: string, around: Surroundings): string[] {
  const { links, source, handlers } = around;
  const start = links.index.get(id);
  if (members.length === 0 || start === undefined) return [];
  const found: string[] = [];
  const seen = new Set([start]);
  let level = [start];
  while (level.length > 0 && found.length < mostAsked) {
    const above = level.flatMap((node) => links.incoming[node] ?? []);
    level = [...new Set(above)].filter((node) => !seen.has(node));
    for (const node of level) {
      seen.add(node);
      const name = links.ids[node] ?? "";
      const has = resultNames(name, source, handlers);
      const member = members.find((each) => has.has(each));
      if (member === undefined) continue;
      found.push(`nodes[${JSON.stringify(name)}].output.${member}`);
    }
  }
  return found.slice(0, mostAsked);
}

/** What the output of a task node has, as far as its handler's contract tells. */
function resultNames(
  id: string,
  source: Source,
  handlers: ReadonlyMap<string, HandlerContract>,
): ReadonlySet<string> {
  const node = source.nodes.get(id);
  const task = node?.type === "task" ? taskSourceOf(id, node) : undefined;
  const handler = isJsonObject(task?.written) ? task.written["handler"] : undefined;
  const result = typeof handler === "string" ? handlers.get(handler)?.result : undefined;
  return new Set(result instanceof z.ZodObject ? Object.keys(result.shape) : []);
}

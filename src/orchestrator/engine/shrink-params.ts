import type { Decision } from "../../core/dag/evaluate/decision.ts";
import type { Evaluated } from "../../core/dag/evaluate/evaluate.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import type { OutputStore } from "./output-store.ts";
import { isLarge } from "./output-store.ts";

/**
 * Moves large values of task parameters to storage: rows and messages get references, which the
 * worker resolves. A value that many children share is stored once.
 */
export async function shrinkParams(
  { outputs }: { readonly outputs: OutputStore },
  jobId: string,
  evaluated: Evaluated,
): Promise<Evaluated> {
  if (!evaluated.decisions.some(hasLargeParams)) return evaluated;
  const stored = new Map<Json, ValueReference>();
  const changes = new Map<string, NodeFact>(evaluated.changes);
  const decisions: Decision[] = [];
  for (const decision of evaluated.decisions) {
    if (decision.type === "dispatch") {
      const params = await shrinkObject(decision.task.params);
      const fact = changes.get(decision.node_id);
      if (fact !== undefined) changes.set(decision.node_id, { ...fact, params });
      decisions.push({ ...decision, task: { ...decision.task, params } });
    } else if (decision.type === "expand") {
      const params: JsonObject[] = [];
      for (const one of decision.params) params.push(await shrinkObject(one));
      decisions.push({ ...decision, params });
    } else decisions.push(decision);
  }
  return { ...evaluated, decisions, changes };

  async function shrinkObject(value: JsonObject): Promise<JsonObject> {
    if (!isLarge(value)) return value;
    const entries: [string, Json][] = [];
    for (const [key, member] of Object.entries(value)) entries.push([key, await shrink(member)]);
    const small = Object.fromEntries(entries);
    if (!isLarge(small)) return small;
    // Many members that are small alone: the largest go to storage until the rest is small.
    const bySize = entries
      .map(([key, member]) => ({ key, member, size: JSON.stringify(member).length }))
      .sort((a, b) => b.size - a.size);
    let rest: JsonObject = small;
    for (const { key, member } of bySize) {
      rest = { ...rest, [key]: await store(member) };
      if (!isLarge(rest)) break;
    }
    return rest;
  }

  async function shrink(value: Json): Promise<Json> {
    if (!isLarge(value)) return value;
    const known = stored.get(value);
    if (known !== undefined) return known;
    return isJsonObject(value) ? shrinkObject(value) : store(value);
  }

  async function store(value: Json): Promise<ValueReference> {
    const reference = stored.get(value) ?? (await outputs.store(jobId, value));
    stored.set(value, reference);
    return reference;
  }
}

function hasLargeParams(decision: Decision): boolean {
  if (decision.type === "dispatch") return isLarge(decision.task.params);
  return decision.type === "expand" && decision.params.some(isLarge);
}

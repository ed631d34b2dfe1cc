import type { JsonObject } from "../../src/core/model/json.ts";
import type { Random } from "./random.ts";

/** What the worker will do with one task, attempt by attempt; the last entry repeats. */
export type Outcome = "ok" | "transient" | "throttling" | "permanent";
export type Script = readonly Outcome[];

export interface RandomWorkflow {
  readonly tree: JsonObject;
  readonly inputs: JsonObject;
  /** By node or child; whatever is not named succeeds at once. */
  readonly scripts: ReadonlyMap<string, Script>;
}

interface Draft {
  readonly id: string;
  readonly source: Record<string, unknown>;
  readonly followers: string[][];
}

/** A workflow of up to 14 nodes with every node type, join, branch, budget and retry policy. */
export function randomWorkflow(random: Random, calm: boolean): RandomWorkflow {
  const drafts: Draft[] = [];
  const inputs: { switches: Record<string, number>; lists: Record<string, number[]> } = {
    switches: {},
    lists: {},
  };
  const scripts = new Map<string, Script>();
  const size = 1 + random.int(14);
  for (let i = 0; i < size; i++) {
    const id = `n${i}`;
    const before = random.shuffle(drafts).slice(0, random.int(4));
    const draft = draftNode(random, id, before, inputs, scripts, calm);
    drafts.push(draft);
    connect(random, draft, before);
  }
  for (const draft of drafts) writeEdges(random, draft);
  const nodes: Record<string, unknown> = {};
  for (const { id, source } of random.shuffle(drafts)) nodes[id] = source;
  const tree = { workflow_id: "random", nodes } as unknown as JsonObject;
  return { tree, inputs: inputs, scripts };
}

function draftNode(
  random: Random,
  id: string,
  before: readonly Draft[],
  inputs: { switches: Record<string, number>; lists: Record<string, number[]> },
  scripts: Map<string, Script>,
  calm: boolean,
): Draft {
  const kind = random.next();
  if (kind < 0.15) {
    inputs.switches[id] = random.int(4);
    const branches = [{ condition: "== 0" }, { condition: "in [1, 2]" }, { default: true }];
    const source = {
      type: "conditional",
      condition_field: `{{ inputs.switches.${id} }}`,
      branches,
    };
    return { id, source, followers: [[], [], []] };
  }
  if (kind < 0.35) {
    const total = random.int(5);
    inputs.lists[id] = Array.from({ length: total }, () => random.int(100));
    const retry = retryPolicy(random);
    for (let i = 0; i < total; i++) scripts.set(`${id}__${i}`, script(random, retry, calm));
    const task = { handler: "echo", params: { item: "{{ item }}", index: "{{ index }}" }, retry };
    return {
      id,
      source: {
        type: "fan_out",
        source: `{{ inputs.lists.${id} }}`,
        task,
        on_failure: random.pick(["fail_fast", "continue"]),
        ...(random.chance(0.4) ? { max_concurrency: 1 + random.int(3) } : {}),
      },
      followers: [[]],
    };
  }
  const behindFanOut = before.some(({ source }) => source["type"] === "fan_out");
  if (before.length > 0 && kind < (behindFanOut ? 0.8 : 0.45)) {
    const budget = behindFanOut
      ? random.pick([{}, { max_failures: 1 }, { max_failure_percent: 50 }, { min_success: 1 }])
      : {};
    const aggregation = random.pick(["collect", "concat", "sum", "first", "last"]);
    return { id, source: { type: "fan_in", aggregation, ...budget }, followers: [[]] };
  }
  const retry = retryPolicy(random);
  scripts.set(id, script(random, retry, calm));
  const feeder = before.find(({ source }) => source["type"] !== "conditional");
  const params = feeder ? { from: `{{ nodes.${feeder.id}.output | default({}) }}` } : { n: 1 };
  return { id, source: { handler: "echo", params, retry }, followers: [[]] };
}

function retryPolicy(random: Random): JsonObject {
  return {
    max_attempts: random.int(3),
    backoff: random.pick(["fixed", "linear", "exponential"]),
    initial_delay_seconds: random.int(4),
  };
}

/** `calm` scripts always end well within the budget, so that the job completes. */
function script(random: Random, retry: JsonObject, calm: boolean): Script {
  const throttles = Array.from({ length: random.int(2) }, (): Outcome => "throttling");
  const budget = retry["max_attempts"] as number;
  if (!calm && random.chance(0.08)) return ["permanent"];
  const failures = calm ? random.int(budget + 1) : random.int(budget + 2);
  const transients = Array.from({ length: failures }, (): Outcome => "transient");
  return [...random.shuffle([...throttles, ...transients]), "ok"];
}

function connect(random: Random, draft: Draft, before: readonly Draft[]): void {
  for (const { followers } of before) {
    const branches = followers.filter(() => random.chance(0.6));
    for (const branch of branches.length > 0 ? branches : [random.pick(followers)]) {
      branch.push(draft.id);
    }
  }
  const plain = before.filter(({ source }) => source["type"] !== "conditional");
  if (plain.length > 0 && random.chance(0.5)) {
    const ids = plain.map(({ id }) => id);
    const forms = [ids, { all_of: ids }, { any_of: ids }];
    const possible = draft.source["type"] === "fan_in" ? forms.slice(0, 2) : forms;
    draft.source["depends_on"] = random.pick<unknown>(possible);
  }
}

/** Edges stand on the left, on the right, or on both sides: all three mean the same. */
function writeEdges(random: Random, { source, followers }: Draft): void {
  if (source["type"] === "conditional") {
    const branches = source["branches"] as Record<string, unknown>[];
    for (const [index, branch] of branches.entries()) branch["next"] = followers[index];
    return;
  }
  const next = followers[0] ?? [];
  if (next.length > 0) source["next"] = next.length === 1 && random.chance(0.5) ? next[0] : next;
}

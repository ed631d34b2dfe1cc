import type { ChildOutput } from "../../adapters/postgres/repositories/children.ts";
import { aggregate } from "../../core/dag/evaluate/fan-in.ts";
import type { Collected, Contribution } from "../../core/dag/evaluate/facts.ts";
import type { FanInNode } from "../../core/dag/graph.ts";
import { weigh } from "../../core/dag/language/weigh.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { valueLimits } from "../../core/model/limits.ts";
import type { TaskError } from "../../core/model/task.ts";
import { childNodeId } from "../../core/model/node.ts";
import { isReference } from "../../core/model/value-reference.ts";
import { takeChildOutputs } from "./child-outputs.ts";
import type { JobState } from "./job-state.ts";
import type { OutputStore } from "./output-store.ts";

/** Reads the rows of children of a fan-out: from index `from`, up to but not including `to`. */
export type ReadChildren = (
  fanOutId: string,
  from: number,
  to: number,
) => Promise<readonly ChildOutput[]>;

/** Reads the outputs of these fan-ins' sources, once and in index order, and aggregates them. */
export async function collect(
  deps: { readonly outputs: OutputStore },
  read: ReadChildren,
  state: JobState,
  fanInIds: readonly string[],
): Promise<ReadonlyMap<string, Collected>> {
  const answers = new Map<string, Collected>();
  for (const id of fanInIds) {
    const node = state.graph.byId.get(id);
    if (node?.type !== "fan_in") throw new Error(`${id} is not a fan-in of this workflow`);
    const sources = await readSources(deps, read, state, node);
    const answer: Collected =
      "code" in sources ? { ok: false, error: sources } : aggregate(node.definition, sources);
    answers.set(id, answer);
  }
  return answers;
}

/** Answers an error when the outputs together are too large; nothing is then read from storage. */
async function readSources(
  deps: { readonly outputs: OutputStore },
  read: ReadChildren,
  state: JobState,
  node: FanInNode,
): Promise<readonly Contribution[] | TaskError> {
  const sources: Contribution[] = [];
  let size = 0;
  for (const { from } of node.incoming) {
    const fact = state.nodes.get(from.id);
    if (fact?.status !== "completed") continue;
    if (from.type !== "fan_out") {
      sources.push({ node_id: from.id, index: sources.length, output: fact.output });
      continue;
    }
    const children: ChildOutput[] = [];
    const total = fact.fan_out?.total ?? 0;
    const kept = takeChildOutputs(state, from.id, total)?.map((text, index) =>
      completedChild(from.id, index, text),
    );
    for (let first = 0; first < total; first += pageOfChildren) {
      const to = Math.min(total, first + pageOfChildren);
      const page = kept?.slice(first, to) ?? (await read(from.id, first, to));
      for (const child of page) {
        size += sizeOf(child.output);
        children.push(child);
      }
      if (size > valueLimits.value) return tooLarge(from.id, size);
    }
    for (const child of children) {
      const contribution = toContribution(state, child);
      const { output } = contribution;
      // Most outputs are in their row, and nothing is awaited for them.
      if (!isReference(output)) sources.push(contribution);
      else sources.push({ ...contribution, output: await deps.outputs.resolve(output) });
    }
  }
  return sources;
}

function completedChild(fanOutId: string, index: number, text: string): ChildOutput {
  const output = JSON.parse(text) as JsonObject;
  const node_id = childNodeId(fanOutId, index);
  return { node_id, fan_out_index: index, status: "completed", output, error: null };
}

/** Bounds what one statement answers: an output in a row has up to 256 KiB. */
const pageOfChildren = 10_000;

function sizeOf(output: JsonObject | null): number {
  if (output === null) return 0;
  if (isReference(output)) return output.bytes;
  const weight = weigh(output, valueLimits.value);
  return typeof weight === "string" ? valueLimits.value : weight.size;
}

function tooLarge(fanOutId: string, size: number): TaskError {
  const message =
    `the outputs of ${fanOutId} have at least ${size} bytes, and a fan_in collects at most ` +
    `${valueLimits.value}; collect one member of them with \`field\`, or let the tasks return ` +
    "where the data is";
  return { code: "OUTPUT_TOO_LARGE", message, category: "permanent" };
}

/** Facts of this tick override the row that was read, because they are not written yet. */
function toContribution(state: JobState, child: ChildOutput): Contribution {
  const { node_id, fan_out_index: index } = child;
  const { status, output, error } = state.nodes.get(node_id) ?? child;
  return {
    node_id,
    index,
    output: output ?? undefined,
    error: status === "failed" ? (error ?? undefined) : undefined,
  };
}

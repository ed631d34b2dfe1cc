import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { ChildOutput } from "../../adapters/postgres/repositories/children.ts";
import { readChildOutputs } from "../../adapters/postgres/repositories/children.ts";
import { aggregate } from "../../core/dag/evaluate/fan-in.ts";
import type { Collected, Contribution } from "../../core/dag/evaluate/facts.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { taskId } from "../../core/model/node.ts";
import type { JobState } from "./job-state.ts";
import type { OutputStore } from "./output-store.ts";

/**
 * Reads the outputs of these fan-ins' sources, once and in index order, and aggregates them. An
 * aggregate that is too large for a row goes to storage; `stored` then holds its reference.
 */
export async function collect(
  deps: { readonly outputs: OutputStore },
  tx: Transaction,
  state: JobState,
  fanInIds: readonly string[],
  stored: Map<string, JsonObject>,
): Promise<ReadonlyMap<string, Collected>> {
  const answers = new Map<string, Collected>();
  for (const id of fanInIds) {
    const node = state.graph.byId.get(id);
    if (node?.type !== "fan_in") throw new Error(`${id} is not a fan-in of this workflow`);
    const sources: Contribution[] = [];
    for (const { from } of node.incoming) {
      const fact = state.nodes.get(from.id);
      if (fact?.status !== "completed") continue;
      if (from.type !== "fan_out") {
        sources.push({ node_id: from.id, index: sources.length, output: fact.output });
        continue;
      }
      for (const child of await readChildOutputs(tx, state.row.job_id, from.id)) {
        sources.push(await toContribution(deps, state, child));
      }
    }
    const answer = aggregate(node.definition.aggregation, sources);
    if (answer.ok) {
      const reference = await deps.outputs.offload(taskId(state.row.job_id, id, 0), answer.output);
      if (reference !== undefined) stored.set(id, reference);
    }
    answers.set(id, answer);
  }
  return answers;
}

/** Facts of this tick override the row that was read, because they are not written yet. */
async function toContribution(
  deps: { readonly outputs: OutputStore },
  state: JobState,
  child: ChildOutput,
): Promise<Contribution> {
  const { node_id, fan_out_index: index } = child;
  const { status, output, error } = state.nodes.get(node_id) ?? child;
  return {
    node_id,
    index,
    output: output ? await deps.outputs.resolve(output) : undefined,
    error: status === "failed" ? (error ?? undefined) : undefined,
  };
}

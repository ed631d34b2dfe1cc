import { expect } from "vitest";
import { toContract } from "../../src/adapters/json-schema/to-contract.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";
import type { Graph } from "../../src/core/dag/graph.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { NaiveOutcome } from "./naive-interpreter.ts";
import { interpret } from "./naive-interpreter.ts";
import { Random } from "./random.ts";
import { randomWorkflow } from "./random-workflow.ts";
import type { Script } from "./random-workflow.ts";
import { graphOf } from "./workflows.ts";

/** A random workflow as real workers can run it, and what the model says of its end. */
export interface ChaosWork {
  readonly workflow_id: string;
  readonly tree: JsonObject;
  readonly inputs: JsonObject;
  readonly graph: Graph;
  readonly expected: NaiveOutcome;
}

type Source = Record<string, unknown>;

/** The handler of chaos-worker.py, which does what the probe does in the mode "script". */
const inPython = toContract({
  name: "chaos.script",
  description: "",
  params: {},
  result: {},
  queue: "chaos-python",
  timeout_seconds: 300,
  examples: [],
});

/**
 * The same workflow that the evaluator's property test plays, with the script of each task in its
 * parameters: the probe then does on a real worker what the model assumes.
 */
export function makeChaosWork(seed: number, index: number, hasPython: boolean): ChaosWork {
  const random = new Random(seed * 1000 + index);
  // Of its own, so that a machine without Python plays the same workflows.
  const language = new Random(seed * 1000 + index);
  const made = randomWorkflow(random, index % 3 !== 0);
  const workflow_id = `chaos_${index}`;
  const nodes: Record<string, Source> = {};
  const inputs = structuredClone(made.inputs) as { lists: Record<string, unknown[]> } & JsonObject;
  const scriptOf = (id: string): Script => made.scripts.get(id) ?? ["ok"];
  for (const [id, source] of Object.entries(made.tree["nodes"] as Record<string, Source>)) {
    const node = withScript(id, source, inputs.lists, scriptOf, random);
    nodes[id] = hasPython && language.int(3) === 0 ? toPython(node) : node;
  }
  const tree = { workflow_id, nodes } as unknown as JsonObject;
  const graph = graphOf(tree, [inPython]);
  const order = graph.nodes.map((node) => node.id);
  const expected = interpret(graph.definition, inputs, made.scripts, order);
  return { workflow_id, tree, inputs, graph, expected };
}

/** The same node with the handler in Python, if it has one. */
function toPython(node: Source): Source {
  const task = (node["type"] === "fan_out" ? node["task"] : node) as Source;
  if (task["handler"] !== "probe") return node;
  const { script, value, seconds } = task["params"] as Source;
  const params = { script, value, seconds };
  const moved = { ...task, handler: inPython.name, params };
  return node["type"] === "fan_out" ? { ...node, task: moved } : moved;
}

/** A task that kills its worker a few times, whatever runs beside it, and then succeeds. */
export function makePoison(deaths: number): ChaosWork {
  const workflow_id = "chaos_poison";
  const params = { mode: "crash_times", size: deaths, value: "a" };
  const nodes = { a: { handler: "probe", params, retry: { max_attempts: 0 } } };
  const tree = { workflow_id, nodes } as unknown as JsonObject;
  const graph = graphOf(tree);
  const expected = interpret(graph.definition, {}, new Map(), ["a"]);
  return { workflow_id, tree, inputs: {}, graph, expected };
}

function withScript(
  id: string,
  source: Source,
  lists: Record<string, unknown[]>,
  scriptOf: (id: string) => Script,
  random: Random,
): Source {
  // Long enough to be killed in the middle of, short enough for many.
  const seconds = (1 + random.int(4)) / 10;
  const retry = (given: unknown) => ({ ...(given as object), initial_delay_seconds: 0.2 });
  if (source["type"] === "fan_out") {
    lists[id] = (lists[id] ?? []).map((_, index) => ({ script: scriptOf(`${id}__${index}`) }));
    const task = source["task"] as Source;
    const params = {
      mode: "script",
      script: "{{ item.script }}",
      value: `${id}__{{ index }}`,
      seconds,
    };
    return { ...source, task: { handler: "probe", params, retry: retry(task["retry"]) } };
  }
  if (source["handler"] === undefined) return source;
  const params = { mode: "script", script: scriptOf(id), value: id, seconds };
  return { ...source, handler: "probe", params, retry: retry(source["retry"]) };
}

/** Every node of every job ended as the model says. */
export async function expectModel(
  db: Database,
  works: ReadonlyMap<string, ChaosWork>,
): Promise<void> {
  const { rows: jobs } = await db.query<{ job_id: string; workflow_id: string; status: string }>(
    `SELECT job_id, workflow_id, status FROM dagapp.dag_jobs`,
  );
  for (const { job_id, workflow_id, status } of jobs) {
    const work = works.get(workflow_id);
    if (work === undefined) throw new Error(`no model of ${workflow_id}`);
    const { rows: nodes } = await db.query<{
      node_id: string;
      status: string;
      parent_node_id: string | null;
      output: JsonObject | null;
    }>(
      `SELECT node_id, status, parent_node_id, output FROM dagapp.dag_node_states
       WHERE job_id = $1`,
      [job_id],
    );
    const { expected } = work;
    const where = `${workflow_id} in job ${job_id}`;
    expect(status, where).toBe(expected.job);
    for (const node of nodes) {
      // What a failing job still got done depends on the order; what it did must be right.
      if (node.status === "cancelled" && expected.job === "failed") continue;
      const at = `${node.node_id} of ${where}`;
      if (node.parent_node_id !== null) {
        expect(node.status, at).toBe(expected.children.get(node.node_id));
        continue;
      }
      const end = expected.ends.get(node.node_id);
      expect(node.status, at).toBe(end?.status);
      if (end?.status === "completed") expect(node.output, at).toEqual(end.output);
    }
  }
}

import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { interpret } from "../../../../test/support/naive-interpreter.ts";
import type { NaiveOutcome } from "../../../../test/support/naive-interpreter.ts";
import { Random } from "../../../../test/support/random.ts";
import type { RandomWorkflow } from "../../../../test/support/random-workflow.ts";
import { randomWorkflow } from "../../../../test/support/random-workflow.ts";
import type { Flight } from "../../../../test/support/simulation.ts";
import { Simulation } from "../../../../test/support/simulation.ts";
import { graphOf } from "../../../../test/support/workflows.ts";
import { isSettled } from "../../model/node.ts";
import type { Decision } from "./decision.ts";
import { evaluate } from "./evaluate.ts";
import type { Report } from "./facts.ts";
import type { Graph } from "../graph.ts";
import { implicitFacts } from "../implicit-nodes.ts";

/** Every number is one workflow and one set of arrival orders; add a failing one to `known`. */
const workflows = 1200;
const arrivals = 2;
const known: readonly number[] = [];

describe("evaluate on random workflows", () => {
  const seeds = [...known, ...Array.from({ length: workflows }, (_, index) => index + 1)];

  it(`ends ${workflows} of them as a naive interpreter says, in every order of arrival`, () => {
    const paths = { skipped: 0, emptyFanOuts: 0, laterBlocks: 0, retries: 0, ignored: 0 };
    const seen = { completed: 0, failed: 0, ...paths };
    for (const seed of seeds) {
      const random = new Random(seed);
      const made = randomWorkflow(random, seed % 2 === 0);
      const graph = graphOf(made.tree);
      const order = graph.nodes.map((node) => node.id);
      const expected = interpret(graph.definition, made.inputs, made.scripts, order);
      for (let arrival = 0; arrival < arrivals; arrival++) {
        const run = play(graph, made, new Random(seed * 1000 + arrival), seed);
        compareEnds(run, expected, seed);
        checkDecidedOnce(run.log, seed);
        tally(run, seen);
      }
    }
    // Rare paths must really have been walked, or the agreement above means little.
    for (const [path, count] of Object.entries(seen)) expect(count, path).toBeGreaterThan(100);
  }, 300_000);
});

/** Runs the job to its end with results in random order and batches, some twice, some late. */
function play(graph: Graph, made: RandomWorkflow, random: Random, seed: number): Simulation {
  const run = new Simulation(graph, made.inputs);
  // Half of the runs create the children of a fan-out one by one, as those of a large one are.
  if (random.chance(0.5)) run.fanOutBlock = 1;
  const landed: Report[] = [];
  step(run, [], undefined, seed);
  for (let round = 0; run.status === "running"; round++) {
    if (round > 2000) throw new Error(`seed ${seed}: the job does not end`);
    const flights = random.shuffle([...run.inFlight.values()]);
    const reports = flights.slice(0, random.int(3)).map((flight) => land(run, flight, made));
    landed.push(...reports);
    const again = landed.length > 0 && random.chance(0.2) ? [random.pick(landed)] : [];
    run.now += random.int(4000);
    const due = [...run.nodes.values()].filter((n) => (n.retry_at ?? Infinity) <= run.now);
    step(
      run,
      random.shuffle([...reports, ...again]),
      random.shuffle(due).map((fact) => fact.node_id),
      seed,
    );
  }
  return run;
}

function land(run: Simulation, flight: Flight, { scripts }: RandomWorkflow): Report {
  const script = scripts.get(flight.node_id) ?? ["ok"];
  const outcome = script[Math.min(flight.attempt, script.length - 1)];
  return outcome === "ok" || outcome === undefined
    ? run.succeed(flight, { ran: flight.node_id })
    : run.failing(flight, { category: outcome });
}

function step(
  run: Simulation,
  reports: readonly Report[],
  changed: readonly string[] | undefined,
  seed: number,
): void {
  const everywhere = evaluate(run.graph, run.facts(reports), run.now);
  const nearby = evaluate(run.graph, run.facts(reports, changed), run.now);
  same(nearby, everywhere, `seed ${seed}: looking only at what changed`);
  const shuffled = evaluate(run.graph, run.facts([...reports].reverse()), run.now);
  same(shuffled, everywhere, `seed ${seed}: reports in reverse`);
  run.tick(reports, changed);
  for (const { node_id, status, output } of implicitFacts(run.graph, run.status, run.nodes)) {
    const decided = run.nodes.get(node_id);
    // A job that fails is not evaluated further, although its last result may have reached the end.
    if (run.status === "failed" && decided?.status === "cancelled") continue;
    same({ status, output }, { status: decided?.status, output: decided?.output }, `seed ${seed}`);
  }
  same(evaluate(run.graph, run.facts(), run.now), [], `seed ${seed}: quiet after apply`);
}

/** Compares before it calls the matcher, whose message would be built a million times. */
function same(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, what).toEqual(expected);
}

function compareEnds(run: Simulation, expected: NaiveOutcome, seed: number): void {
  same(run.status, expected.job, `seed ${seed}`);
  for (const fact of run.nodes.values()) {
    const what = `seed ${seed}: ${fact.node_id}`;
    same(isSettled(fact.status), true, `${what} is ${fact.status}`);
    // What a failing job still got done depends on the order; what it did must be right.
    if (fact.status === "cancelled" && expected.job === "failed") continue;
    if (fact.parent !== undefined) {
      same(fact.status, expected.children.get(fact.node_id), what);
      continue;
    }
    const end = expected.ends.get(fact.node_id);
    same(fact.status, end?.status, what);
    if (end?.status === "completed") same(fact.output, end.output, what);
  }
  if (expected.job === "completed") {
    const results = run.graph.results.map((node) => [node.id, expected.ends.get(node.id)] as const);
    const outputs = results.flatMap(([id, end]) =>
      end?.status === "completed" ? [[id, end.output] as const] : [],
    );
    same(run.result, Object.fromEntries(outputs), `seed ${seed}`);
  }
}

/** Each node is settled, expanded and collected once, each attempt dispatched once. */
function checkDecidedOnce(log: readonly Decision[], seed: number): void {
  const once = new Set<string>();
  for (const decision of log) {
    const key = keyOf(decision);
    if (key === undefined) continue;
    same(once.has(key), false, `seed ${seed}: ${key} twice`);
    once.add(key);
  }
}

function keyOf(decision: Decision): string | undefined {
  switch (decision.type) {
    case "complete":
    case "fail":
    case "skip":
      return `settle ${decision.node_id}`;
    case "expand":
      return `expand ${decision.node_id} ${decision.from}`;
    case "collect":
      return `collect ${decision.node_id}`;
    case "dispatch":
      return `dispatch ${decision.node_id} ${decision.attempt}`;
    case "release":
      return `release ${decision.node_id} ${decision.from}`;
    case "start_job":
    case "complete_job":
    case "fail_job":
    case "cancel_job":
      return decision.type;
    case "ready":
    case "retry":
    case "ignore":
      return undefined;
  }
}

function tally(run: Simulation, seen: Record<string, number>): void {
  const add = (path: string, count: number): void => {
    seen[path] = (seen[path] ?? 0) + count;
  };
  const ofType = (type: Decision["type"]) => run.log.filter((one) => one.type === type).length;
  add(run.status, 1);
  add("skipped", ofType("skip"));
  add("retries", ofType("retry"));
  add("ignored", ofType("ignore"));
  const expansions = run.log.filter((one) => one.type === "expand");
  add("laterBlocks", expansions.filter((one) => one.from > 0).length);
  add("emptyFanOuts", expansions.filter((one) => one.params.length === 0).length);
}

// What `evaluate` costs on small and large jobs. Run after `npm run build`.
//
// Each shape is measured in the middle of its life: one task reports, and what follows is decided.
// The numbers of one shape should hardly differ between 10 and 50,000 nodes: the cost follows what
// changed and not the size of the job.
import { compile } from "../dist/core/dag/compile/compile.js";
import { evaluate } from "../dist/core/dag/evaluate/evaluate.js";
import { handlerCatalogue } from "../dist/core/handlers/index.js";
import { taskQueues } from "../dist/core/queues.js";

const sizes = [10, 1000, 50_000];

function graphOf(nodes) {
  const options = { handlers: handlerCatalogue, queues: new Set(taskQueues), env: new Set() };
  const { graph, findings } = compile({ workflow_id: "bench", nodes }, options);
  if (graph === undefined) throw new Error(findings[0].message);
  return graph;
}

const fact = (node_id, status, more = {}) => ({
  node_id,
  status,
  attempt: 0,
  retry_count: 0,
  throttle_count: 0,
  ...more,
});

const job = {
  job_id: "j",
  status: "running",
  inputs: {},
  paused: false,
  context: {},
  env: {},
};

const done = (node_id) => ({
  task_id: `j_${node_id}_0`,
  node_id,
  outcome: { status: "completed", output: {} },
});

function chain(size) {
  const nodes = {};
  for (let i = 0; i < size; i++) {
    nodes[`n${i}`] = { handler: "echo", ...(i + 1 < size ? { next: `n${i + 1}` } : {}) };
  }
  const graph = graphOf(nodes);
  const middle = size >> 1;
  const facts = new Map([["@start", fact("@start", "completed", { output: {} })]]);
  for (let i = 0; i < size; i++) {
    const status = i < middle ? "completed" : i === middle ? "dispatched" : "pending";
    facts.set(`n${i}`, fact(`n${i}`, status));
  }
  facts.set("@end", fact("@end", "pending"));
  return {
    graph,
    facts: { job, nodes: facts, unsettled: size, reports: [done(`n${middle}`)], changed: [] },
  };
}

function diamonds(size) {
  const nodes = {};
  const count = Math.max(1, Math.floor(size / 4));
  for (let i = 0; i < count; i++) {
    nodes[`a${i}`] = { handler: "echo", next: [`b${i}`, `c${i}`] };
    nodes[`b${i}`] = { handler: "echo", next: `d${i}` };
    nodes[`c${i}`] = { handler: "echo", next: `d${i}` };
    nodes[`d${i}`] = { handler: "echo", ...(i + 1 < count ? { next: `a${i + 1}` } : {}) };
  }
  const graph = graphOf(nodes);
  const facts = new Map(graph.nodes.map(({ id }) => [id, fact(id, "pending")]));
  facts.set("a0", fact("a0", "completed", { output: {} }));
  facts.set("b0", fact("b0", "completed", { output: {} }));
  facts.set("c0", fact("c0", "dispatched"));
  return {
    graph,
    facts: { job, nodes: facts, unsettled: size, reports: [done("c0")], changed: [] },
  };
}

function fanOut(size) {
  const graph = graphOf({
    split: {
      type: "fan_out",
      source: "{{ inputs.list }}",
      task: { handler: "echo", params: { item: "{{ item }}" } },
      next: "join",
    },
    join: { type: "fan_in" },
  });
  const counters = { total: size, next_index: size, completed: 1, failed: 0, failed_indexes: [] };
  const facts = new Map([
    ["@start", fact("@start", "completed", { output: {} })],
    ["split", fact("split", "running", { fan_out: counters })],
    ["split__7", fact("split__7", "dispatched", { parent: { node_id: "split", index: 7 } })],
    ["join", fact("join", "pending")],
    ["@end", fact("@end", "pending")],
  ]);
  return {
    graph,
    facts: { job, nodes: facts, unsettled: 3, reports: [done("split__7")], changed: [] },
  };
}

function perSecond(run) {
  for (let i = 0; i < 200; i++) run();
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < 500) {
    for (let i = 0; i < 50; i++) run();
    count += 50;
  }
  return Math.round((count * 1000) / (performance.now() - start));
}

console.log("evaluations per second, one result at a time\n");
console.log(
  "shape      " + sizes.map((size) => String(size).padStart(12)).join("") + "   largest : smallest",
);
for (const [name, make] of Object.entries({ chain, diamonds, "fan-out": fanOut })) {
  const rates = sizes.map((size) => {
    const { graph, facts } = make(size);
    return perSecond(() => evaluate(graph, facts, 0));
  });
  const ratio = (rates[0] / rates[rates.length - 1]).toFixed(1);
  console.log(
    name.padEnd(11) +
      rates.map((rate) => String(rate).padStart(12)).join("") +
      `   cost × ${ratio}`,
  );
}
const { graph } = fanOut(10);
for (const size of sizes) {
  const list = Array.from({ length: size }, (_, i) => i);
  const facts = { job: { ...job, inputs: { list } }, nodes: new Map(), unsettled: 4, reports: [] };
  const start = performance.now();
  const rounds = size > 1000 ? 3 : 30;
  for (let i = 0; i < rounds; i++) evaluate(graph, facts, 0);
  const each = (performance.now() - start) / rounds;
  console.log(
    `expand ${String(size).padStart(6)} children: ${each.toFixed(2)} ms, ${((each / size) * 1000).toFixed(2)} µs a child`,
  );
}

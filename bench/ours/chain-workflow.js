import { payload } from "../harness/payload.js";

/** W2's workflow: too long to write by hand, and its length is the benchmark's to choose. */
export function chainWorkflow(length) {
  const nodes = Array.from({ length }, (_, at) => {
    const before = at === 0 ? "inputs.n" : `nodes.t${at - 1}.output.echoed_params.n`;
    return [
      `  t${at}:`,
      "    handler: echo",
      `    params: { n: "{{ ${before} }}", payload: "${payload}" }`,
      ...(at + 1 < length ? [`    next: t${at + 1}`] : []),
    ].join("\n");
  });
  return [
    "workflow_id: bench_chain",
    `name: A chain of ${length}`,
    "inputs:",
    "  n: { type: integer, default: 0 }",
    "nodes:",
    ...nodes,
    "",
  ].join("\n");
}

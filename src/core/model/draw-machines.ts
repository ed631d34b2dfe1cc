import { clearanceMachine } from "./asset.ts";
import { jobMachine } from "./job.ts";
import { nodeMachine } from "./node.ts";
import { taskMachine } from "./task.ts";
import { isTerminal } from "./transitions.ts";
import type { StateMachine } from "./transitions.ts";
import { approvalMachine, processingMachine } from "./version.ts";

/**
 * Writes docs/state-machines.md from the same data that the code checks and the database guards.
 */
export function drawMachines(): string {
  const intro =
    "# State machines\n\nDrawn from `src/core/model`; `npm run generate` writes this page. The database refuses every\nother transition.\n";
  return [
    intro,
    draw(jobMachine),
    draw(nodeMachine),
    draw(taskMachine),
    draw(approvalMachine),
    draw(processingMachine),
    draw(clearanceMachine),
  ].join("\n");
}

function draw<State extends string>(machine: StateMachine<State>): string {
  const states = Object.keys(machine.transitions) as State[];
  const steps = states.flatMap((from) =>
    Object.entries<string | undefined>(machine.transitions[from]).map(([to, why]) => ({
      from,
      to,
      why: why ?? "",
    })),
  );
  const title = machine.name.charAt(0).toUpperCase() + machine.name.slice(1);
  return [
    `## ${title}`,
    "",
    "```mermaid",
    "stateDiagram-v2",
    `  [*] --> ${machine.initial}`,
    ...steps.map(({ from, to, why }) => `  ${from} --> ${to}: ${why}`),
    ...states.filter((state) => isTerminal(machine, state)).map((state) => `  ${state} --> [*]`),
    "```",
    "",
    "| from | to | when |",
    "| --- | --- | --- |",
    ...steps.map(({ from, to, why }) => `| ${from} | ${to} | ${why} |`),
    "",
  ].join("\n");
}

import type { Command } from "commander";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { print, printJson } from "../common/output.ts";
import { ago, grouped, stripControlCharacters } from "../common/format.ts";
import { jsonOption } from "./define-command.ts";

const examples = `
Examples:
  rmhdag status
  rmhdag status --json

Exit status: 0 when every part is ok, 1 when one is degraded or down.
`;

export function addStatus(program: Command, config: CliConfig): void {
  program
    .command("status")
    .description(
      "show the health of each part, the number of jobs, and the orchestrator that answers",
    )
    .addOption(jsonOption())
    .addHelpText("after", examples)
    .action(async (options: { json?: true }, command: Command) => {
      const client = connect(command, config);
      const [health, orchestrator] = await Promise.all([
        client.health(),
        client.getOrchestratorStatus(),
      ]);
      if (options.json === true) printJson({ health, orchestrator });
      else {
        print(`${mark(health.status)}  rmhdag ${health.version}`);
        for (const [name, part] of Object.entries(health.parts ?? {})) {
          print(`  ${mark(part.status)}  ${name}: ${stripControlCharacters(part.detail)}`);
        }
        const { jobs, ticks, last_tick_at, last_error, owned_jobs, unowned_jobs } = orchestrator;
        const counts = Object.entries(jobs).map(([state, count]) => `${grouped(count)} ${state}`);
        print(`jobs: ${counts.join(", ")}`);
        print(
          `orchestrator ${orchestrator.owner_id}: owns ${grouped(owned_jobs)}, ` +
            `${grouped(unowned_jobs)} without an owner, ${grouped(ticks)} ticks, ` +
            `the last ${ago(last_tick_at) ?? "never"}`,
        );
        if (last_error !== null) print(`its last error: ${stripControlCharacters(last_error)}`);
      }
      if (health.status !== "ok") process.exitCode = 1;
    });
}

function mark(status: "ok" | "degraded" | "down"): string {
  return { ok: "✓ ok", degraded: "! degraded", down: "✗ down" }[status];
}

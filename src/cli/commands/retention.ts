import type { Command } from "commander";
import { Option } from "commander";
import type { RetentionClass } from "../../core/retention/classes.ts";
import { retentionClass } from "../../core/retention/classes.ts";
import type { CliConfig } from "../common/config.ts";
import { ago, table } from "../common/format.ts";
import { connect } from "./connect.ts";
import { addCommand, listCommand, printResult } from "./define-command.ts";

export function addRetention(program: Command, config: CliConfig): void {
  const retention = program
    .command("retention")
    .description("see what is removed after which time, and remove it now")
    .addHelpText("after", "\nExamples:\n  rmhdag retention plan\n  rmhdag retention run\n");
  const plan = retention
    .command("plan")
    .description("count what would be removed now, by class")
    .addHelpText("after", "\nExamples:\n  rmhdag retention plan --json\n");
  listCommand(plan, config, {
    read: async (client) => (await client.getRetention()).classes,
    none: "There are no classes.",
    columns: {
      CLASS: (each) => each.class,
      "KEPT FOR": (each) => (each.days === 0 ? "ever" : `${each.days} days`),
      JOBS: (each) => each.jobs,
      ROWS: (each) => `${each.rows}${each.more ? "+" : ""}`,
      OLDEST: (each) => (each.oldest === null ? "" : ago(each.oldest)),
      NEWEST: (each) => (each.newest === null ? "" : ago(each.newest)),
      "REMOVED SO FAR": (each) => each.removed_rows,
      ARCHIVED: (each) => each.archived_rows,
    },
  });
  addCommand(retention, "run", "remove what is old, until nothing is left of it", "--class logs")
    .addOption(
      new Option("--class <name...>", "only these classes").choices(retentionClass.options),
    )
    .action(async (options: { class?: RetentionClass[] }, command: Command) => {
      const client = connect(command, config);
      const totals = new Map<RetentionClass, { removed: number; archived: number }>();
      let classes = options.class ?? [...retentionClass.options];
      for (let again = true; classes.length > 0; again = false) {
        const done = await client.runRetention({ body: { classes, again } });
        for (const { class: name, removed, archived } of done.classes) {
          const before = totals.get(name) ?? { removed: 0, archived: 0 };
          totals.set(name, {
            removed: before.removed + removed,
            archived: before.archived + archived,
          });
        }
        classes = done.classes.filter(({ more }) => more).map((each) => each.class);
      }
      const rows = [...totals].map(([name, total]) => ({ class: name, ...total }));
      const cells = rows.map((each) => [each.class, each.removed, each.archived]);
      printResult(command, rows, [table(["CLASS", "REMOVED", "ARCHIVED"], cells)]);
    });
}

import { stat } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { errorCode } from "../../adapters/runtime/error-code.ts";
import { ApiError } from "../../core/api/api-error.ts";
import type { Check } from "../../core/doctor/check.ts";
import { ok, problem } from "../../core/doctor/check.ts";
import type { CliConfig } from "../common/config.ts";
import { describeRefusal } from "../common/failure.ts";
import { plural, stripControlCharacters } from "../common/format.ts";
import { print, printJson } from "../common/output.ts";
import { localFiles } from "../up/local-files.ts";
import { connect, dataFolder, isThisMachine, urlOf } from "./connect.ts";
import { jsonOption } from "./define-command.ts";

const examples = `
Examples:
  rmhdag doctor                                    the site of the data folder, or on port 8000
  rmhdag doctor --url https://dag.example.org --token …
  rmhdag doctor --json

Exit status: 0 without a problem (warnings are allowed), 1 with one.
`;

export function addDoctor(program: Command, config: CliConfig): void {
  program
    .command("doctor")
    .description("check a deployment, and say what to change: roles, TLS, sandbox, tokens, disk …")
    .addOption(jsonOption())
    .addHelpText("after", examples)
    .action(async (options: { json?: true }, command: Command) => {
      const checks = [
        ...(await checkFiles(dataFolder(command, config))),
        ...checkUrl(urlOf(command, config)),
        ...(await askOrchestrator(command, config)),
      ];
      const problems = checks.filter(({ status }) => status === "problem").length;
      if (options.json === true) printJson({ ok: problems === 0, checks });
      else {
        for (const check of checks) printCheck(check);
        const warnings = checks.filter(({ status }) => status === "warning").length;
        print(`${plural(problems, "problem")}, ${plural(warnings, "warning")}`);
      }
      if (problems > 0) process.exitCode = 1;
    });
}

const marks = { ok: "✓", warning: "!", problem: "✗" };

function printCheck({ name, status, found, remedy }: Check): void {
  print(`${marks[status]} ${name}: ${stripControlCharacters(found)}`);
  if (remedy !== null) print(`    → ${stripControlCharacters(remedy)}`);
}

async function askOrchestrator(command: Command, config: CliConfig): Promise<readonly Check[]> {
  try {
    return (await connect(command, config).runDoctor()).checks;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [found = "", ...rest] = describeRefusal(error).split("\n");
    const remedy = rest.at(-1) ?? "look at the orchestrator's log";
    return [problem("orchestrator", found, remedy)];
  }
}

/** A token that crosses a network in plain text can be read by every machine on the way. */
function checkUrl(url: string): Check[] {
  const name = "address of the orchestrator";
  if (isThisMachine(url) || url.startsWith("https:")) return [ok(name, url)];
  return [
    problem(name, `${url} is plain HTTP to another machine`, "use https, or an SSH tunnel to it"),
  ];
}

/** The secrets of a local `up`; no other user of the machine may read them. */
async function checkFiles(folder: string): Promise<Check[]> {
  const { url, ...others } = localFiles(folder);
  const secrets = Object.values(others).filter((file) => file !== url);
  const open: string[] = [];
  let found = 0;
  for (const file of secrets) {
    const mode = await stat(file).then(
      (facts) => facts.mode & 0o777,
      (error: unknown) => {
        if (errorCode(error) === "ENOENT") return undefined;
        throw error;
      },
    );
    if (mode === undefined) continue;
    found++;
    if ((mode & 0o077) !== 0) open.push(path.basename(file));
  }
  if (found === 0) return [];
  const name = "files with secrets";
  if (open.length === 0) return [ok(name, `only their owner reads the ${found} in ${folder}`)];
  return [
    problem(
      name,
      `other users of this machine may read ${open.join(", ")} in ${folder}`,
      `chmod 600 ${open.map((file) => path.join(folder, file)).join(" ")}; if others may have read a token or password, stop \`rmhdag up\`, remove its file and start again, which makes a new one`,
    ),
  ];
}

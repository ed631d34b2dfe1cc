import { cp, mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { Failure } from "../common/failure.ts";
import { print } from "../common/output.ts";

/** Beside src/ as beside dist/. */
const template = fileURLToPath(new URL("../../../templates/init", import.meta.url));

export function addInit(program: Command): void {
  program
    .command("init")
    .description(
      "make a folder with a workflow, handlers in TypeScript and Python, and their tests",
    )
    .argument("[folder]", "a new or empty folder", ".")
    .addHelpText("after", "\nExamples:\n  rmhdag init demo && cd demo && rmhdag up\n")
    .action(async (folder: string) => {
      await mkdir(folder, { recursive: true });
      const taken = (await readdir(folder)).filter((name) => !ignored.has(name));
      if (taken.length > 0) {
        throw new Failure(`${folder} is not empty: it has ${taken.slice(0, 3).join(", ")}.`);
      }
      await cp(template, folder, { recursive: true });
      const where = path.relative(process.cwd(), path.resolve(folder));
      print(`Made a workflow and two handlers in ${where || "this folder"}. Next:`);
      if (where !== "") print(`  cd ${where}`);
      print("  rmhdag up");
      print("  rmhdag submit hello --input name=Ada --wait     in another shell");
    });
}

/** What an installed rmhdag or git has put into the folder. */
const ignored: ReadonlySet<string> = new Set([
  ".git",
  ".rmhdag",
  "node_modules",
  "package.json",
  "package-lock.json",
]);

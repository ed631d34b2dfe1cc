import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Failure } from "../failure.ts";

export type ProgramName = "gateway" | "orchestrator" | "worker";

/** Programs never import each other, so the command line starts them as processes of their own. */
export function programFile(name: ProgramName): string {
  const file = fileURLToPath(new URL(`../../programs/${name}.js`, import.meta.url));
  if (existsSync(file)) return file;
  throw new Failure(`${file} is not there: run \`npm run build\` in the folder of rmhdag.`);
}

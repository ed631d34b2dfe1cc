import { readFileSync } from "node:fs";
import type { Command } from "../../src/adapters/gdal/run-process.ts";

/** What a hostile program tries from inside of a sandbox, and where it would find something. */
export interface Targets {
  readonly canary: string;
  readonly source: string;
  readonly workDir: string;
  readonly port: number;
  readonly parent: number;
}

/** The outcome of each attempt: what it has got, or the code of the error. */
export type Outcomes = Readonly<Record<string, string>>;

const script = readFileSync(new URL("attacker.js", import.meta.url), "utf8");

/** A program of Node.js as the attacker: it can make any system call that C could. */
export function attackFromInside(targets: Targets): Command {
  return {
    program: "attacker",
    file: process.execPath,
    args: ["--input-type=module", "-e", script, JSON.stringify(targets)],
    env: { HOME: targets.workDir },
  };
}

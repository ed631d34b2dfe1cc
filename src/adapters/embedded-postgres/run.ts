import { spawn } from "node:child_process";
import type { Account } from "./account.ts";

export interface Outcome {
  /** Null when the program could not be started or was killed. */
  readonly status: number | null;
  readonly stdout: string;
  readonly output: string;
}

/**
 * What our PostgreSQL programs see of the environment. Not ours: PGDATA, LC_ALL or a library path
 * of somebody else would change what they do.
 */
export const serverEnvironment = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

export interface RunOptions {
  readonly account?: Account | undefined;
  /** Inherited as 3, 4 and so on. */
  readonly descriptors?: readonly number[];
  readonly env?: Record<string, string>;
}

/** Runs a program to its end and never rejects: a program that cannot start is an outcome too. */
export function run(
  program: string,
  parameters: readonly string[],
  { account, descriptors = [], env }: RunOptions = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      ...account,
      // Our own folder may be one that the account cannot enter.
      cwd: "/",
      ...(env === undefined ? {} : { env }),
      stdio: ["ignore", "pipe", "pipe", ...descriptors],
    });
    let stdout = "";
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("error", (error) => {
      resolve({ status: null, stdout, output: output + error.message });
    });
    child.on("close", (status) => {
      resolve({ status, stdout, output });
    });
  });
}

import type { ChildProcess } from "node:child_process";
import { Duplex } from "node:stream";

/**
 * The gate closes a gap in which a confined program could outlive its worker. A sandbox asks the
 * kernel to be ended with its parent, and a worker that was killed before that request leaves the
 * sandbox behind. So a shell stands in front of the program: it reports once the sandbox has made its
 * requests, and starts the program only if a worker answers. The end of the worker's stream is no
 * answer.
 */
const descriptor = 4;

/** Lines of a shell script; the program that follows them does not inherit the descriptor. */
export const gateLines = [
  `echo >&${descriptor} || exit 1`,
  `read -r answer <&${descriptor} || exit 1`,
  `exec ${descriptor}>&-`,
];

/** The command that runs `command` once the gate is open. */
export function behindGate(sh: string, command: readonly string[]): string[] {
  return [sh, "-c", [...gateLines, 'exec "$@"'].join("\n"), "gate", ...command];
}

/** Answers the shell. Every process that is started by a `Command` with a gate needs this. */
export function openGate({ stdio }: ChildProcess): void {
  const gate = stdio[descriptor];
  if (!(gate instanceof Duplex)) return;
  // A shell that was ended closes its end of the stream.
  gate.on("error", () => undefined).on("data", () => gate.end("\n"));
}

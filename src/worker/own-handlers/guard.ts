/**
 * Ends a program with its worker, at whatever moment that is killed: a shell starts a watcher in the
 * program's process group and then becomes the program. The worker holds the other end of the
 * watcher's file descriptor 3, which the kernel closes with the worker. The watcher is no child of the
 * program, which could otherwise wait for its end.
 */
import type { ChildProcess } from "node:child_process";
import { Duplex } from "node:stream";
import type { ProgramCommand } from "./container.ts";

// The watcher is born with these signals ignored: one that came before it could ignore them would end it.
const script = `engine=$1 container=$2
shift 2
trap '' TERM INT HUP
( (
  read -r never <&3
  [ -z "$container" ] || "$engine" kill "$container"
  kill -KILL 0
) </dev/null >/dev/null 2>&1 & )
trap - TERM INT HUP
exec "$@" 3<&-`;

export function guarded({ file, args, container }: ProgramCommand): {
  readonly file: string;
  readonly args: readonly string[];
} {
  const { engine, name } = container ?? { engine: "", name: "" };
  return { file: "/bin/sh", args: ["-c", script, "guard", engine, name, file, ...args] };
}

/** Ends the program with its processes and its container, as the end of the worker does. */
export function endGuarded({ stdio }: ChildProcess): void {
  (stdio[3] as Duplex | undefined)?.destroy();
}

/** Must follow the start: an unread stream would keep the program from being reported as closed. */
export function holdGuard({ stdio }: ChildProcess): void {
  if (stdio[3] instanceof Duplex) stdio[3].on("error", () => undefined).resume();
}

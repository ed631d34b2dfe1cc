import path from "node:path";
import { behindGate } from "./gate.ts";
import { limitArguments } from "./limits.ts";
import type { Sandbox } from "./sandbox.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import type { SystemFiles } from "./system-files.ts";

/** Of the private /tmp, which is memory: GDAL writes its temporary files to the work folder. */
export const temporaryBytes = 64 * 1024 * 1024;

/**
 * Confines with bubblewrap. Only what is bound here exists inside, and the root folder is read-only.
 * There is no /proc: GDAL needs none, and containers do not allow to mount one.
 */
export function createBubblewrap(
  programs: { readonly bwrap: string; readonly prlimit: string; readonly sh: string },
  system: SystemFiles,
): Sandbox {
  const filter = seccompFilter(process.arch);
  const fixed = [
    ...["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"],
    ...system.paths.flatMap((file) => ["--ro-bind", file, file]),
    ...system.links.flatMap(([from, to]) => ["--symlink", to, from]),
    ...system.devices.flatMap((file) => ["--dev-bind", file, file]),
    ...["--size", String(temporaryBytes), "--tmpfs", "/tmp"],
  ];
  return {
    kind: "bubblewrap",
    confine: (command, { workDir, sources, limits }) => ({
      ...command,
      file: programs.bwrap,
      args: [
        ...fixed,
        ...["--bind", workDir, workDir],
        // GDAL reports a missing file in words that callers know.
        ...outside(workDir, sources).flatMap((file) => ["--ro-bind-try", file, file]),
        ...["--remount-ro", "/", "--chdir", workDir],
        ...(filter === undefined ? [] : ["--seccomp", "3"]),
        "--",
        ...behindGate(programs.sh, [
          ...[programs.prlimit, ...limitArguments(limits), "--", command.file, ...command.args],
        ]),
      ],
      extraInput: filter,
      hasGate: true,
    }),
  };
}

/** The sources that are not in the work folder: absolute paths, each once. */
export function outside(workDir: string, sources: readonly string[]): string[] {
  const isFar = (file: string) =>
    path.isAbsolute(file) && file !== workDir && !file.startsWith(workDir + path.sep);
  return [...new Set(sources.map((file) => path.normalize(file)))].filter(isFar);
}

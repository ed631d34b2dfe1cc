import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { outside, temporaryBytes } from "./bubblewrap.ts";
import { gateLines } from "./gate.ts";
import { limitArguments } from "./limits.ts";
import type { Sandbox } from "./sandbox.ts";
import type { SystemFiles } from "./system-files.ts";

/** Programs of util-linux, by their absolute paths. */
interface NamespacePrograms {
  readonly sh: string;
  readonly unshare: string;
  readonly setpriv: string;
  readonly prlimit: string;
  readonly umount: string;
}

/**
 * Confines with the kernel's namespaces, where bubblewrap is missing: `unshare` makes them, and a
 * script inside of them builds a root folder of bind mounts, changes to it, detaches the old one and
 * gives up its capabilities. It runs as an ordinary user as well, in a user namespace.
 */
export function createNamespaces(programs: NamespacePrograms, system: SystemFiles): Sandbox {
  const inside = [programs.setpriv, programs.prlimit, programs.umount];
  const readable = [...new Set([...system.paths, ...inside])];
  const before = [
    ...readable.map((file) => bind(file, "ro,nosuid,nodev")),
    ...system.devices.map((file) => bind(file)),
    `tmpfs /new/tmp tmpfs size=${temporaryBytes},mode=1777,nosuid,nodev,noexec 0 0`,
  ];
  const links = system.links.map(([from, to]) => `ln -s ${quote(to)} ${quote(from.slice(1))}`);
  return {
    kind: "namespaces",
    confine: (command, { workDir, sources, limits }) => {
      const files = outside(workDir, sources).filter((file) => existsSync(file));
      const after = [bind(workDir), ...files.map((file) => bind(file, "ro,nosuid,nodev,noexec"))];
      const script = [
        ...gateLines,
        ...begin,
        ...makePlaces([...readable, ...system.devices]),
        "mkdir -p .old tmp",
        ...links,
        ...mountAll(before),
        ...makePlaces([workDir, ...files]),
        ...mountAll(after),
        ...finish,
        `cd ${quote(workDir)}`,
        "trap - EXIT",
        // Not as process 1, which the kernel spares the signals of limits.
        '"$@"; exit $?',
      ].join("\n");
      return {
        ...command,
        // Ends `unshare` with the worker, and `unshare` ends the first process of the namespace.
        file: programs.setpriv,
        args: [
          ...["--pdeathsig", "KILL", "--", programs.unshare, ...unshared, "--fork"],
          ...["--kill-child=KILL", programs.sh, "-c", script, "sh"],
          ...[programs.setpriv, ...powerless, "--", programs.prlimit],
          ...[...limitArguments(limits), "--", command.file, ...command.args],
        ],
        hasGate: true,
      };
    },
  };
}

const unshared = [
  "--user",
  "--map-root-user",
  "--mount",
  "--pid",
  "--net",
  "--ipc",
  "--uts",
  "--cgroup",
];

const powerless = [
  "--no-new-privs",
  "--bounding-set=-all",
  "--inh-caps=-all",
  "--securebits=+noroot,+noroot_locked",
];

/** Begins the message of a sandbox that could not be built; the reason is on the line before. */
const setUpFailed = "sandbox: it could not be built";

/**
 * The first root is a folder in memory with the machine's files in /old, so that the mounts below do
 * not hide what is to be bound later: a source may be in /tmp.
 */
const begin = [
  "set -eu",
  `trap 'echo "${setUpFailed}" >&2' EXIT`,
  "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
  "umask 022",
  "mount -t tmpfs -o mode=755,size=1m tmpfs /tmp",
  "cd /tmp",
  "mkdir old new",
  "ln -s old/usr old/lib old/lib32 old/lib64 old/bin old/sbin old/proc old/etc old/dev .",
  "pivot_root . old",
  "mount -t tmpfs -o mode=755,size=1m,nosuid,nodev tmpfs /new",
  "cd /new",
];

/** `umount` reads /proc/self/mountinfo; the link leads nowhere once the old root is gone. */
const finish = [
  "ln -s .old/old/proc proc",
  "mount -o remount,bind,ro /new",
  "pivot_root . .old",
  "cd /",
  "umount -l /.old",
];

/** Makes the folders and empty files, in the folder /new, over which others are mounted. */
function makePlaces(paths: readonly string[]): string[] {
  const isFolder = (file: string) => statSync(file).isDirectory();
  const folders = paths.map((file) => (isFolder(file) ? file : path.dirname(file)));
  const files = paths.filter((file) => !isFolder(file));
  const below = (file: string) => quote(file.slice(1));
  return [
    `mkdir -p ${[...new Set(folders)].map(below).join(" ")}`,
    ...files.map((file) => `: > ${below(file)}`),
  ];
}

/** A line of fstab. A mount without options keeps those of the folder that it comes from. */
function bind(file: string, options = ""): string {
  const name = file.replaceAll(
    /[\s\\#]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `/old${name} /new${name} none ${["bind", options].filter(Boolean).join(",")} 0 0`;
}

/** One process for all mounts: each would take two milliseconds. */
function mountAll(table: readonly string[]): string[] {
  return [`printf '%s\\n' ${table.map(quote).join(" ")} > /table`, "mount -a -T /table"];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

import { constants } from "node:fs";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createBubblewrap } from "./bubblewrap.ts";
import { behindGate } from "./gate.ts";
import { GdalError } from "./gdal-error.ts";
import type { Unusable } from "./gdal.ts";
import { limitArguments, limitsFor } from "./limits.ts";
import { createNamespaces } from "./namespaces.ts";
import { runProcess } from "./run-process.ts";
import type { Sandbox } from "./sandbox.ts";
import { findSystemFiles } from "./system-files.ts";

const folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

/** The first sandbox in which the given program runs, and why those before it do not. */
export async function findSandbox(
  programs: readonly string[],
  wanted: readonly Sandbox["kind"][] = ["bubblewrap", "namespaces"],
): Promise<{ readonly sandbox: Sandbox | undefined; readonly unusable: readonly Unusable[] }> {
  const unusable: Unusable[] = [];
  for (const kind of wanted) {
    const made = await make[kind](programs);
    const reason = "missing" in made ? `${made.missing} is not installed` : await tryOut(made);
    if (reason === undefined && "kind" in made) return { sandbox: made, unusable };
    unusable.push({ kind, reason: reason ?? "" });
  }
  return { sandbox: undefined, unusable };

  /** Runs the first program once: only that shows what the kernel and a container allow. */
  async function tryOut(sandbox: Sandbox): Promise<string | undefined> {
    const [file = ""] = programs;
    const workDir = await mkdtemp(path.join(tmpdir(), "rmhdag-sandbox-"));
    try {
      const limits = await limitsFor({}, workDir);
      const command = { program: path.basename(file), file, args: ["--version"], env: {} };
      const confined = sandbox.confine(command, { workDir, sources: [], limits });
      await runProcess(confined, { workDir, timeoutMs: 30_000 });
      return undefined;
    } catch (error) {
      if (error instanceof GdalError && error.lines.length > 0) return error.lines.join(" ");
      return error instanceof Error ? error.message : String(error);
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
  }
}

type Made = Sandbox | { readonly missing: string };

const make: Readonly<Record<Sandbox["kind"], (programs: readonly string[]) => Promise<Made>>> = {
  bubblewrap: async (programs) => {
    const { found, missing } = await locate(["bwrap", "prlimit", "sh"]);
    if (found === undefined) return { missing };
    return createBubblewrap(found, findSystemFiles([...programs, found.prlimit, found.sh]));
  },

  namespaces: async (programs) => {
    const names = ["sh", "unshare", "setpriv", "prlimit", "umount", "mount", "pivot_root"] as const;
    const { found, missing } = await locate(names);
    return found === undefined ? { missing } : createNamespaces(found, findSystemFiles(programs));
  },

  none: () => createNoSandbox(),
};

/**
 * What is left without a sandbox, where util-linux is installed: the limits, except for that of
 * processes, which would count all processes of the user; and an end with the worker.
 */
export async function createNoSandbox(): Promise<Sandbox> {
  const { found } = await locate(["setpriv", "prlimit", "sh"]);
  if (found === undefined) return { kind: "none", confine: (command) => command };
  const { setpriv, prlimit, sh } = found;
  return {
    kind: "none",
    confine: (command, { limits }) => {
      const bounds = limitArguments(limits).filter((each) => !each.startsWith("--nproc"));
      const limited = [prlimit, ...bounds, "--", command.file, ...command.args];
      const args = ["--pdeathsig", "KILL", "--", ...behindGate(sh, limited)];
      return { ...command, file: setpriv, args, hasGate: true };
    },
  };
}

async function locate<Name extends string>(
  names: readonly Name[],
): Promise<
  | { readonly found: Readonly<Record<Name, string>>; readonly missing?: undefined }
  | { readonly found?: undefined; readonly missing: string }
> {
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const file = await firstProgram(folders.map((folder) => path.join(folder, name)));
    if (file === undefined) return { missing: name };
    found[name] = file;
  }
  return { found: found as Record<Name, string> };
}

export async function firstProgram(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return file;
  }
  return undefined;
}

/**
 * Makes sure that the server's account can run the npm binaries, and answers where they are.
 *
 * Two things go wrong in practice. Packages cannot carry symbolic links, so an install script makes
 * them from a list, and with `--ignore-scripts` they are missing. And the account that runs the
 * server for root cannot enter a project below /root (mode 0700). Both have one remedy: a copy with
 * the links in a folder that the account can enter. It is 60 MB, takes 0.2 s, and is kept by
 * version for the next start.
 *
 * The copy is made under another name and renamed, so that a crash leaves no incomplete copy, and
 * of two processes that copy at once the second uses the first one's. Root's copy is where only
 * root can write: the server must not run a file that another user has put into a shared folder.
 */
import { cp, lstat, mkdtemp, readFile, rename, rm, symlink, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { run, serverEnvironment } from "./run-as-account.ts";
import type { Account } from "./run-as-account.ts";
import { hasErrorCode } from "../runtime/error-code.ts";
import { EmbeddedPostgresError, lastLines } from "./errors.ts";
import type { Binaries } from "./find-binaries.ts";
import { makeFolder } from "../runtime/make-folder.ts";

export interface MakeRunnableOptions {
  readonly account: Account | undefined;
  /** Folder for the copy of an ordinary user. */
  readonly dataDirectory: string;
  /** Folders for the copy of root, tried in order. */
  readonly sharedDirectories?: readonly string[] | undefined;
}

export async function makeRunnable(
  binaries: Binaries,
  { account, dataDirectory, sharedDirectories }: MakeRunnableOptions,
): Promise<Binaries> {
  const trial = await tryVersion(binaries, account);
  if (trial.status === 0) return binaries;
  if (binaries.source === "system") throw unusable(binaries, trial.output);

  const native = path.dirname(binaries.binDirectory);
  const places =
    account === undefined
      ? [dataDirectory]
      : (sharedDirectories ?? ["/var/cache/rmhdagmaster", tmpdir()]);
  let failure = trial.output;
  for (const place of places) {
    try {
      const copy = await copyNative(native, place, account !== undefined);
      const copied = {
        ...binaries,
        binDirectory: path.join(copy, "bin"),
        shareDirectory: path.join(copy, "share/postgresql"),
      };
      const second = await tryVersion(copied, account);
      if (second.status === 0) return copied;
      failure = second.output;
    } catch (error) {
      // The next folder may have space or be writable; the error names the last failure.
      failure = error instanceof Error ? error.message : String(error);
      if (hasErrorCode(error, "ENOSPC")) {
        throw new EmbeddedPostgresError("DISK_FULL", `No space left in ${place}.`, {
          cause: error,
        });
      }
    }
  }
  throw unusable(binaries, failure);
}

function tryVersion(binaries: Binaries, account: Account | undefined) {
  return run(path.join(binaries.binDirectory, "postgres"), ["--version"], {
    account,
    env: serverEnvironment,
  });
}

async function copyNative(native: string, place: string, shared: boolean): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(native, "../package.json"), "utf8")) as {
    version: string;
  };
  await makeFolder(place, shared ? 0o755 : 0o700);
  const copy = path.join(place, `postgres-${version}-${process.platform}-${process.arch}`);
  if (await isOwnDirectory(copy)) return copy;

  const unfinished = await mkdtemp(`${copy}.`);
  try {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await makeSymlinks(unfinished);
    if (shared) await chmod(unfinished, 0o755);
    await rename(unfinished, copy).catch(async (error: unknown) => {
      if (!hasErrorCode(error, "ENOTEMPTY", "EEXIST")) throw error;
      if (!(await isOwnDirectory(copy))) throw error;
    });
    return copy;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** False: the folder does not exist. Throws if another user owns it or may write to it. */
async function isOwnDirectory(directory: string): Promise<boolean> {
  const stats = await lstat(directory).catch(() => undefined);
  if (stats === undefined) return false;
  const writableByOthers = (stats.mode & 0o022) !== 0;
  if (!stats.isDirectory() || stats.uid !== process.geteuid?.() || writableByOthers) {
    throw new Error(`${directory} belongs to another user or is writable by others: remove it.`);
  }
  return true;
}

/** Makes the links of the package's list, whose paths are relative to the package's root. */
async function makeSymlinks(native: string): Promise<void> {
  const list = await readFile(path.join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(native, path.relative("native", target));
    const to = path.relative(path.dirname(target), source);
    await symlink(to, link).catch((error: unknown) => {
      if (!hasErrorCode(error, "EEXIST")) throw error;
    });
  }
}

function unusable(binaries: Binaries, output: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "BINARIES_UNUSABLE",
    `The PostgreSQL programs in ${binaries.binDirectory} cannot be run: ${lastLines(output, 3)}\n` +
      "Reinstall the dependencies, or set DATABASE_URL to a server that runs elsewhere.",
  );
}

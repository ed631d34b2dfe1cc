/**
 * Makes sure that the server's account can run the npm binaries, and says where they are.
 *
 * Two things go wrong in practice. Packages cannot carry symlinks, so an install script makes them
 * from a list, and with `--ignore-scripts` nobody does. And a project below a root home (mode 0700)
 * cannot be reached by the account that serves for root. Both have one cure, a copy with the
 * symlinks in a place that the account can reach. It is 60 MB and takes 0.2 s, and is kept by
 * version for the next start.
 *
 * The copy is made under another name and renamed, so a crash leaves no half of it, and of two
 * processes that copy at once the second finds the first one's. For root the copy lies where only
 * root can write: a server must not run what another user put into a shared folder.
 */
import { cp, lstat, mkdir, mkdtemp, readFile, rename, rm, symlink, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { hasErrorCode } from "../error-code.ts";
import type { Account } from "./account.ts";
import { EmbeddedPostgresError, lastLines } from "./error.ts";
import type { Binaries } from "./find-binaries.ts";
import { run, serverEnvironment } from "./run.ts";

export interface MakeRunnableOptions {
  readonly account: Account | undefined;
  /** Where an ordinary user keeps a copy: its own data directory. */
  readonly dataDirectory: string;
  /** Where root keeps one. */
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
      // The next place may have room, or be writable; the last failure is the one that is told.
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
  await mkdir(place, { recursive: true, mode: shared ? 0o755 : 0o700 });
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

/** Says no for a folder that is not there, and refuses one that somebody else could have filled. */
async function isOwnDirectory(directory: string): Promise<boolean> {
  const stats = await lstat(directory).catch(() => undefined);
  if (stats === undefined) return false;
  const writableByOthers = (stats.mode & 0o022) !== 0;
  if (!stats.isDirectory() || stats.uid !== process.geteuid?.() || writableByOthers) {
    throw new Error(`${directory} belongs to somebody else: remove it.`);
  }
  return true;
}

/** The list names both ends from the package's root, one of them always in the other's folder. */
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

/**
 * Makes the cluster on first use, under another name, and renames it when it is complete. So a
 * crash leaves a folder to remove and nothing to repair, and of two processes that make it at once
 * the second deletes its own.
 */
import { randomBytes } from "node:crypto";
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { run, serverEnvironment, withReachableFolder } from "./run-as-account.ts";
import type { Account } from "./run-as-account.ts";
import { hasErrorCode } from "../runtime/error-code.ts";
import { EmbeddedPostgresError, lastLines } from "./errors.ts";
import type { Binaries } from "./find-binaries.ts";
import { withInitdb } from "./initdb.ts";
import { role } from "./layout.ts";
import type { Layout } from "./layout.ts";
import { makeFolder } from "../runtime/make-folder.ts";

export interface PrepareOptions {
  readonly account: Account | undefined;
  readonly sync: boolean;
}

export async function createDataDirectory(layout: Layout): Promise<void> {
  try {
    await makeFolder(layout.dataDirectory, 0o700);
    await removeAbandoned(layout.dataDirectory);
  } catch (error) {
    throw unusable(layout.dataDirectory, error);
  }
}

/** The major version that made the cluster, or undefined when there is none yet. */
export async function clusterVersion(layout: Layout): Promise<number | undefined> {
  try {
    return Number.parseInt(await readFile(path.join(layout.data, "PG_VERSION"), "utf8"), 10);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw unusable(layout.dataDirectory, error);
  }
}

export async function createCluster(
  layout: Layout,
  binaries: Binaries,
  { account, sync }: PrepareOptions,
): Promise<void> {
  const prefix = path.join(layout.dataDirectory, `new-${process.pid}-`);
  let unfinished: string | undefined;
  try {
    unfinished = await mkdtemp(prefix);
    const data = path.join(unfinished, "data");
    const password = path.join(unfinished, "password");
    await mkdir(data, { mode: 0o700 });
    // mkdtemp makes the folder with mode 0700, so no other user can read the password at any
    // moment.
    await writeFile(password, randomBytes(24).toString("hex"), { mode: 0o600, flag: "wx" });
    if (account !== undefined) {
      for (const one of [password, data, unfinished]) await chown(one, account.uid, account.gid);
    }
    await initialise(binaries, unfinished, account, sync);
    await rename(unfinished, layout.cluster);
  } catch (error) {
    // Another process has made the cluster first; its cluster is used.
    if (hasErrorCode(error, "ENOTEMPTY", "EEXIST")) return;
    throw error instanceof EmbeddedPostgresError ? error : unusable(layout.dataDirectory, error);
  } finally {
    if (unfinished !== undefined) await rm(unfinished, { recursive: true, force: true });
  }
}

async function initialise(
  binaries: Binaries,
  cluster: string,
  account: Account | undefined,
  sync: boolean,
): Promise<void> {
  const outcome = await withInitdb(binaries, cluster, (initdb) =>
    withReachableFolder(account, cluster, ({ folder, descriptors }) =>
      run(
        initdb,
        [
          `--pgdata=${folder}/data`,
          `--username=${role}`,
          `--pwfile=${folder}/password`,
          "--auth=scram-sha-256",
          "--encoding=UTF8",
          ...localeParameters(binaries.major),
          "--no-instructions",
          ...(sync ? [] : ["--no-sync"]),
          "-L",
          binaries.shareDirectory,
        ],
        { account, descriptors, env: serverEnvironment },
      ),
    ),
  );
  if (outcome.status === 0) return;
  const full = outcome.output.includes("No space left on device");
  throw new EmbeddedPostgresError(
    full ? "DISK_FULL" : "INITDB_FAILED",
    `${full ? "The disk is full" : "initdb failed"} in ${path.dirname(cluster)}:\n` +
      lastLines(outcome.output),
  );
}

/** Sorting by code point and Unicode case mapping, the same on every machine. */
function localeParameters(major: number): string[] {
  if (major < 17) return ["--locale=C.UTF-8"];
  return ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
}

async function removeAbandoned(dataDirectory: string): Promise<void> {
  for (const name of await readdir(dataDirectory)) {
    const maker = /^new-(\d+)-/.exec(name)?.[1];
    if (maker === undefined || isAlive(Number(maker))) continue;
    await rm(path.join(dataDirectory, name), { recursive: true, force: true });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasErrorCode(error, "EPERM");
  }
}

function unusable(dataDirectory: string, cause: unknown): EmbeddedPostgresError {
  if (hasErrorCode(cause, "ENOSPC")) {
    return new EmbeddedPostgresError("DISK_FULL", `The disk is full: ${dataDirectory}`, { cause });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new EmbeddedPostgresError(
    "DATA_DIRECTORY_UNUSABLE",
    `The data directory ${dataDirectory} cannot be used: ${reason}\n` +
      "Make it writable for the user who runs this program, or name another one.",
    { cause },
  );
}

/**
 * Runs a private PostgreSQL in a folder. It is made on first use, started when it does not run,
 * shared by all processes that start it for the same folder, and stopped when the last of them is
 * gone (postgres/server-ownership.ts counts them).
 *
 * The start is one loop without a lock. Each round attaches to a running server, or starts one. A
 * server that another process stopped, a port that was taken, and another process that started the
 * server first all lead to the next round.
 */
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { prepareServer } from "../postgres/server-facts.ts";
import { takeOwnership } from "../postgres/server-ownership.ts";
import { serverAccount } from "./run-as-account.ts";
import type { Account } from "./run-as-account.ts";
import { chooseBinaries, findBinaries } from "./find-binaries.ts";
import type { Binaries, BinarySource, Preference } from "./find-binaries.ts";
import { isTransient, throwUnlessRetryable, startFailed, wrongPassword } from "./errors.ts";
import { layoutOf, role } from "./layout.ts";
import type { Layout } from "./layout.ts";
import { makeRunnable } from "./make-runnable.ts";
import { clusterVersion, createCluster, createDataDirectory } from "./prepare-data-directory.ts";
import { findRunningServer, removeStalePidFile, stopServer } from "./running-server.ts";
import type { RunningServer } from "./running-server.ts";
import { spawnServer } from "./spawn-server.ts";
import type { ServerProcess } from "./spawn-server.ts";

export interface StartEmbeddedPostgresOptions {
  readonly dataDirectory: string;
  readonly database?: string;
  readonly prefer?: Preference;
  readonly log?: (message: string) => void;
  /** Uses these programs, and searches for no others. */
  readonly binaries?: Binaries;
  /**
   * Folders for root's copy of the programs, needed when the server's account cannot reach them.
   */
  readonly sharedDirectories?: readonly string[];
  /** False: faster, and data is lost in a power cut. For the tests' temporary servers only. */
  readonly sync?: boolean;
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  readonly source: BinarySource;
  readonly version: string;
  readonly hasPostgis: boolean;
  /** True: the server was running already. */
  readonly attached: boolean;
  /** Releases this process's ownership, and stops the server if it was the last owner. */
  stop(): Promise<void>;
}

const startTimeoutMs = 60_000;
const roundMs = 20;
const maxPortsTried = 5;

export async function startEmbeddedPostgres(
  options: StartEmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const layout = layoutOf(options.dataDirectory);
  const account = await serverAccount();
  await createDataDirectory(layout);

  const deadline = performance.now() + startTimeoutMs;
  let started: ServerProcess | undefined;
  let portsTried = 0;
  let lastFailure: unknown;
  while (performance.now() < deadline) {
    const running = await findRunningServer(layout);
    if (running !== undefined) {
      const attached = running.pid !== started?.pid;
      const server = await attach(layout, running, options, attached).catch((error: unknown) => {
        if (!isTransient(error)) throw wrongPassword(error, layout) ?? error;
        lastFailure = error;
      });
      if (server !== undefined) return server;
    } else if (started === undefined || started.ended !== undefined) {
      if (started?.ended !== undefined) {
        throwUnlessRetryable(started.ended, layout, portsTried < maxPortsTried);
      }
      started = await startServer(layout, account, options);
      portsTried++;
    }
    await pause(roundMs);
  }
  throw await startFailed(layout, lastFailure);
}

async function startServer(
  layout: Layout,
  account: Account | undefined,
  options: StartEmbeddedPostgresOptions,
): Promise<ServerProcess> {
  const { prefer = "auto", sync = true, log } = options;
  const made = await clusterVersion(layout);
  const candidates = options.binaries ? [options.binaries] : await findBinaries(prefer);
  const chosen = chooseBinaries(candidates, { prefer, made, dataDirectory: layout.dataDirectory });
  const binaries = await makeRunnable(chosen, {
    account,
    dataDirectory: layout.dataDirectory,
    sharedDirectories: options.sharedDirectories,
  });
  if (made === undefined) {
    log?.(`making a PostgreSQL ${binaries.major} database in ${layout.dataDirectory}`);
    await createCluster(layout, binaries, { account, sync });
  }
  await removeStalePidFile(layout);
  log?.(`starting PostgreSQL ${binaries.major} (${binaries.source})`);
  return spawnServer(layout, binaries, { account, sync });
}

async function attach(
  layout: Layout,
  { pid, port }: RunningServer,
  options: StartEmbeddedPostgresOptions,
  attached: boolean,
): Promise<EmbeddedPostgres | undefined> {
  if (port === undefined) return undefined;
  const database = options.database ?? "rmhdag";
  const password = (await readFile(layout.password, "utf8")).trim();
  const url = `postgres://${role}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;

  const ownership = await takeOwnership(url);
  const stop = () => ownership.release(() => stopServer(layout, pid));
  // With new connections, after taking ownership: a server that is about to stop refuses them.
  const facts = await prepareServer(url, database).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  options.log?.(`PostgreSQL ${facts.version} is ready on port ${port}`);
  return {
    url,
    port,
    attached,
    version: facts.version,
    hasPostgis: facts.hasPostgis,
    source: facts.source === "system" ? "system" : "npm",
    stop,
  };
}

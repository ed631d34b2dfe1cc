/**
 * A private PostgreSQL in a folder: made on first use, started when it does not run, shared by all
 * processes that ask for the same folder, and stopped when the last of them is gone (how they are
 * counted is told in postgres/server-ownership.ts).
 *
 * There is one loop and no lock around it. Each round looks at what there is: a living server is
 * attached to, otherwise one is started; a server that was stopped under our hands, a port that was
 * taken, and another process that was faster all lead to the next round.
 */
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { prepareServer } from "../postgres/server-facts.ts";
import { takeOwnership } from "../postgres/server-ownership.ts";
import type { Account } from "./account.ts";
import { serverAccount } from "./account.ts";
import { chooseBinaries } from "./choose-binaries.ts";
import { isTransient, refuseEnd, startFailed, wrongPassword } from "./diagnose.ts";
import { findBinaries } from "./find-binaries.ts";
import type { Binaries, BinarySource, Preference } from "./find-binaries.ts";
import { layoutOf, role } from "./layout.ts";
import type { Layout } from "./layout.ts";
import { makeRunnable } from "./make-runnable.ts";
import { clusterVersion, createCluster, createDataDirectory } from "./prepare-data-directory.ts";
import { findRunningServer, removeStalePidFile } from "./running-server.ts";
import type { RunningServer } from "./running-server.ts";
import { spawnServer } from "./spawn-server.ts";
import type { ServerProcess } from "./spawn-server.ts";
import { stopServer } from "./stop-server.ts";

export interface StartEmbeddedPostgresOptions {
  readonly dataDirectory: string;
  readonly database?: string;
  readonly prefer?: Preference;
  readonly log?: (message: string) => void;
  /** Use these programs and look for no others. */
  readonly binaries?: Binaries;
  /** Where root keeps a copy of the programs when the server's account cannot reach them. */
  readonly sharedDirectories?: readonly string[];
  /** False gives up durability for speed: for the throw-away server of the tests, never for users. */
  readonly sync?: boolean;
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  readonly source: BinarySource;
  readonly version: string;
  readonly hasPostgis: boolean;
  /** The server was running already. */
  readonly attached: boolean;
  /** Gives the server up, and stops it if nobody else owns it. */
  stop(): Promise<void>;
}

const patienceMs = 60_000;
const roundMs = 20;
const maxPortsTried = 5;

export async function startEmbeddedPostgres(
  options: StartEmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const layout = layoutOf(options.dataDirectory);
  const account = await serverAccount();
  await createDataDirectory(layout);

  const deadline = performance.now() + patienceMs;
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
      if (started?.ended !== undefined)
        refuseEnd(started.ended, layout, portsTried < maxPortsTried);
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
  // On new connections, and after the lock: a server that is about to stop refuses them.
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

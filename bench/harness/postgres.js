/**
 * The one server that everybody uses: the launcher makes the cluster, and we start it ourselves,
 * because a benchmark needs other settings than a site (larger buffers, statement counts) and the
 * launcher gives its own on the command line, where they beat postgresql.conf.
 */
import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import {
  serverAccount,
  serverEnvironment,
  withReachableFolder,
} from "../../dist/adapters/embedded-postgres/run-as-account.js";
import { findBinaries } from "../../dist/adapters/embedded-postgres/find-binaries.js";
import { layoutOf, role } from "../../dist/adapters/embedded-postgres/layout.js";
import { makeRunnable } from "../../dist/adapters/embedded-postgres/make-runnable.js";
import {
  createCluster,
  createDataDirectory,
} from "../../dist/adapters/embedded-postgres/prepare-data-directory.js";
import { freePort } from "./free-port.js";

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  // None but our own, between the cells: whom one hits would be chance.
  checkpoint_timeout: "30min",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  jit: "off",
  timezone: "UTC",
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track": "top",
  "pg_stat_statements.track_utility": "on",
};

export async function startPostgres(folder, say, prefer = "npm") {
  const given = process.env.BENCH_DATABASE_URL;
  if (given) return { url: given, pid: undefined, stop: async () => undefined };

  const layout = layoutOf(path.join(folder, prefer === "npm" ? "postgres" : `postgres-${prefer}`));
  const account = await serverAccount();
  await createDataDirectory(layout);
  const [found] = await findBinaries(prefer);
  if (found === undefined) throw new Error("No PostgreSQL: set BENCH_DATABASE_URL.");
  const binaries = await makeRunnable(found, { account, dataDirectory: layout.dataDirectory });
  say(`making a PostgreSQL ${binaries.major} server in ${folder}`);
  await createCluster(layout, binaries, { account, sync: true });

  const port = await freePort();
  const log = await open(layout.log, "a+", 0o600);
  const server = await withReachableFolder(account, layout.cluster, async (reach) =>
    spawn(
      path.join(binaries.binDirectory, "postgres"),
      [
        "-D",
        `${reach.folder}/data`,
        ...Object.entries({ ...settings, port }).flatMap(([name, value]) => [
          "-c",
          `${name}=${value}`,
        ]),
      ],
      {
        ...account,
        cwd: "/",
        env: serverEnvironment,
        detached: true,
        stdio: ["ignore", log.fd, log.fd, ...reach.descriptors],
      },
    ),
  );
  await log.close();
  const ended = new Promise((resolve) => server.once("exit", resolve));
  // The server must not outlive the benchmark, however that ends; its data is not needed.
  const abandon = () => server.kill("SIGQUIT");
  process.once("exit", abandon);

  const password = (await readFile(layout.password, "utf8")).trim();
  const url = `postgres://${role}:${password}@127.0.0.1:${port}/postgres`;
  await waitUntilReady(url, server, layout.log);
  return {
    url,
    pid: server.pid,
    async stop() {
      process.off("exit", abandon);
      server.kill("SIGINT");
      await ended;
    },
  };
}

/** The system's server, where there is one of another version than npm's; otherwise undefined. */
export async function startOlderPostgres(folder, say) {
  if (process.env.BENCH_DATABASE_URL) return undefined;
  const [[npm], [system]] = [await findBinaries("npm"), await findBinaries("system")];
  if (system === undefined || system.major === npm?.major) return undefined;
  return startPostgres(folder, say, "system");
}

async function waitUntilReady(url, server, log) {
  for (;;) {
    if (server.exitCode !== null) {
      throw new Error(`PostgreSQL did not start:\n${await readFile(log, "utf8")}`);
    }
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return await client.end();
    } catch {
      await pause(50);
    }
  }
}

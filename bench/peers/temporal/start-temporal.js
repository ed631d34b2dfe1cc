/** Starts Temporal's server, all four services in one process, on two databases of the benchmark's PostgreSQL. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Connection } from "@temporalio/client";
import pg from "pg";
import { startServer } from "../start-server.js";

const address = "127.0.0.1:7233";

/** `tool` is the folder of its programs. */
export async function startTemporal({ tool, databaseUrl, folder }) {
  const url = new URL(databaseUrl);
  const store = url.pathname.slice(1);
  const visibility = `${store}_visibility`;
  await inDatabase(databaseUrl, `CREATE DATABASE ${visibility}`);
  for (const [name, schema] of [
    [store, "temporal"],
    [visibility, "visibility"],
  ]) {
    const sql = (...args) =>
      execFileSync(path.join(tool, "sql"), [...at(url, name), ...args], { stdio: "ignore" });
    sql("setup-schema", "--version", "0.0");
    sql("update-schema", "--schema-name", `postgresql/v12/${schema}`);
  }
  const home = path.join(folder, `temporal-${store}`);
  mkdirSync(home, { recursive: true });
  const file = path.join(home, "bench.yaml");
  // YAML of today reads JSON.
  writeFileSync(file, JSON.stringify(settings({ url, store, visibility })));
  const args = ["--config-file", file, "--allow-no-auth", "start"];
  const server = await startServer(path.join(tool, "server"), args, () => register(address));
  return {
    address,
    pid: server.pid,
    async stop() {
      await server.stop();
      await inDatabase(databaseUrl, `DROP DATABASE ${visibility} WITH (FORCE)`);
    },
  };
}

const at = ({ hostname, port, username, password }, name) => [
  ...["--plugin", "postgres12", "--endpoint", hostname, "--port", port],
  ...["--user", decodeURIComponent(username), "--password", decodeURIComponent(password)],
  ...["--database", name],
];

async function inDatabase(connectionString, text) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Fails until the server answers. */
async function register(address) {
  const connection = await Connection.connect({ address, connectTimeout: 1000 });
  try {
    await connection.workflowService.registerNamespace({
      namespace: "default",
      workflowExecutionRetentionPeriod: { seconds: 86_400 },
    });
    // The server's caches learn of a namespace some seconds later.
    await connection.workflowService.listOpenWorkflowExecutions({ namespace: "default" });
  } catch (error) {
    if (!/already/i.test(error.message)) throw error;
    await connection.workflowService.listOpenWorkflowExecutions({ namespace: "default" });
  } finally {
    await connection.close();
  }
}

/** As its own configuration for PostgreSQL has it, without archives. It stores its ports as 16 bits with a sign. */
function settings({ url, store, visibility }) {
  const database = (databaseName, maxConns) => ({
    sql: {
      pluginName: "postgres12",
      databaseName,
      connectAddr: url.host,
      connectProtocol: "tcp",
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: "1h",
    },
  });
  const service = (grpcPort) => ({
    rpc: { grpcPort, membershipPort: grpcPort - 300, bindOnLocalHost: true },
  });
  return {
    log: { level: "error" },
    persistence: {
      defaultStore: "store",
      visibilityStore: "visibility",
      numHistoryShards: 4,
      datastores: { store: database(store, 20), visibility: database(visibility, 10) },
    },
    global: { membership: { maxJoinDuration: "30s", broadcastAddress: "127.0.0.1" } },
    services: {
      frontend: service(7233),
      history: service(7234),
      matching: service(7235),
      worker: service(7239),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: "active",
      currentClusterName: "active",
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: "frontend",
          rpcAddress: address,
        },
      },
    },
    dcRedirectionPolicy: { policy: "noop" },
  };
}

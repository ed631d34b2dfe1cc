/** One cell: a fresh database, a driver, and everything that was used while it ran. */
import { fork } from "node:child_process";
import { clearTimeout, setTimeout } from "node:timers";
import { fileURLToPath } from "node:url";
import { analyse, vacuum } from "./database.js";
import { machineMs, readProcesses, treeOf } from "./processes.js";

const driverFile = fileURLToPath(new URL("../driver.js", import.meta.url));
/** Longer than the slowest cell by far: a hang must end the benchmark with a word. */
const patienceMs = 300_000;

export async function measure({ admin, server, redis, folder, peer, cell, settings }) {
  const name = cell.database ?? `bench_${peer.id.replace(/\W/g, "_")}`;
  const urls = cell.database === undefined ? await admin.create(name) : admin.urls(cell.database);
  if (peer.redis) await redis.flush();
  const driver = startDriver(peer);
  try {
    const { workload, size, variant } = cell;
    const given = { ...urls, redisUrl: redis?.url, folder, workload, size, variant, settings };
    await driver.ask("open", { ...given, tool: peer.tool?.path });
    const measuresDisk = cell.fill && !peer.redis;
    const bytesBefore = measuresDisk ? await admin.bytes(name) : undefined;
    const filled = cell.fill ? await driver.ask("fill", size) : undefined;
    if (cell.warm && !cell.fill) await driver.ask("run", size);
    if (cell.warm && !peer.redis) await analyse(urls.databaseUrl);

    const roots = { store: peer.redis ? redis.pid : server.pid, driver: driver.pid };
    await admin.reset();
    const before = await sample(admin);
    const outcome = await repeat(cell.repeat ?? 1, () => driver.ask("run", size));
    const after = await sample(admin);
    const statements = await admin.statements(name);
    const pages = await admin.pages(name);
    const top = settings.statements ? await admin.topStatements(name) : undefined;
    const roles = await driver.ask("roles");
    await driver.ask("close");
    if (measuresDisk) await vacuum(urls.databaseUrl);
    const bytesAfter = measuresDisk ? await admin.bytes(name) : undefined;

    const { tasks } = outcome;
    const cpu = cpuByRole(before.processes, after.processes, roots, roles);
    const cpuMs = Object.values(cpu).reduce((sum, ms) => sum + ms, 0);
    const wallMs = outcome.wallMs ?? after.at - before.at;
    return {
      tasks,
      wallMs,
      latencies: outcome.latencies,
      fillPerSecond: filled === undefined ? undefined : (tasks / filled.wallMs) * 1000,
      statements: peer.redis ? undefined : statements / tasks,
      commits: peer.redis ? undefined : (after.xids - before.xids) / tasks,
      walBytes: peer.redis ? undefined : (after.wal - before.wal) / tasks,
      /** What stays of a finished task: tables and indexes after VACUUM. */
      diskBytes: measuresDisk ? (bytesAfter - bytesBefore) / tasks : undefined,
      pages: peer.redis ? undefined : pages / tasks,
      cpuMs: cpuMs / tasks,
      cpuByRole: Object.fromEntries(Object.entries(cpu).map(([role, ms]) => [role, ms / tasks])),
      /** Cores that others used meanwhile. */
      foreign: Math.max(0, (after.machine - before.machine - cpuMs) / (after.at - before.at)),
      top,
    };
  } finally {
    await driver.end();
    if (cell.database === undefined) await admin.drop(name);
  }
}

/** Short runs are measured several times in a row, and counted as one. */
async function repeat(times, run) {
  const outcomes = [];
  for (let n = 0; n < times; n++) outcomes.push(await run());
  const sum = (key) => outcomes.reduce((total, outcome) => total + outcome[key], 0);
  return { ...outcomes[0], tasks: sum("tasks"), wallMs: outcomes[0].wallMs && sum("wallMs") };
}

async function sample(admin) {
  const counters = await admin.counters();
  return {
    ...counters,
    processes: readProcesses(),
    machine: machineMs(),
    at: performance.now(),
  };
}

/** The tree of the store by its root; of the driver's tree each process by the role it plays. */
function cpuByRole(before, after, roots, roles) {
  const used = {};
  // As a whole: the time of a backend that ends moves into its parent's, and none is lost.
  if (roots.store !== undefined) {
    used.store = totalMs(after, roots.store) - totalMs(before, roots.store);
  }
  for (const pid of treeOf(after, roots.driver)) {
    const role = roles[pid] ?? "worker";
    used[role] = (used[role] ?? 0) + after.get(pid).ms - (before.get(pid)?.ms ?? 0);
  }
  return used;
}

function totalMs(processes, root) {
  return treeOf(processes, root).reduce(
    (sum, pid) => sum + processes.get(pid).ms,
    processes.get(root)?.deadChildrenMs ?? 0,
  );
}

function startDriver({ module, node }) {
  const child = fork(driverFile, [module], {
    execPath: node,
    // Warnings of the peers about their own dependencies are none of ours.
    execArgv: ["--no-deprecation"],
    stdio: "inherit",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return {
    pid: child.pid,
    ask(verb, given) {
      return new Promise((resolve, reject) => {
        const settle = ({ answer, error }) => {
          clearTimeout(timer);
          child.off("exit", gone);
          if (error === undefined) resolve(answer);
          else reject(new Error(error));
        };
        const gone = (code) => settle({ error: `the driver ended with ${code} in ${verb}` });
        const timer = setTimeout(() => {
          child.off("message", settle);
          settle({ error: `${verb} has not finished in ${patienceMs / 1000} s` });
        }, patienceMs);
        child.once("message", settle);
        child.once("exit", gone);
        child.send({ verb, given });
      });
    },
    async end() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/**
 * `npm run bench:retention -- --nodes 10000000`: a database with years of finished nodes. Is a task as
 * cheap beside them as in an empty one, do jobs notice that old ones are removed, and what is left?
 * Prints a table and writes results/retention.json.
 */
import { writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { openAdmin } from "./harness/database.js";
import { describeMachine } from "./harness/machine.js";
import { measure } from "./harness/measure.js";
import { peers, preparePeers } from "./harness/peers.js";
import { startPostgres } from "./harness/postgres.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { fillHistory } from "./ours/fill-history.js";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "2000000" },
    rounds: { type: "string", default: "3" },
  },
});
const nodes = Number(values.nodes);
/** Of the three years that the history spans, two are kept: the default. */
const days = 3 * 365;
const classes = ["LOGS", "RESULTS", "EVENTS", "JOBS", "CALLBACKS", "REQUESTS", "DEAD_LETTERS"];
const off = Object.fromEntries(classes.map((name) => [`RETENTION_${name}_DAYS`, "0"]));
const tables = ["dag_jobs", "dag_node_states", "dag_task_results", "dag_job_events"];

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
const say = (text) => process.stdout.write(`${text}\n`);
const folder = makeWorkFolder();
const server = await startPostgres(folder, say);
const admin = await openAdmin(server.url);
const [ours] = preparePeers([peers[0]], say);

async function cell(database, workload, size, { env = off, repeat = 1 } = {}) {
  const settings = { workers: 1, concurrency: 100, env };
  const given = { workload, size, repeat, database };
  return measure({ admin, server, folder, peer: ours, cell: given, settings });
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const percentile = (list, part) =>
  list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))];

async function sizes(client) {
  const { rows } = await client.query(
    `SELECT relname AS table, pg_total_relation_size(relid)::float8 AS bytes,
       n_live_tup::float8 AS rows, n_dead_tup::float8 AS dead,
       greatest(last_vacuum, last_autovacuum) IS NOT NULL AS vacuumed
     FROM pg_stat_user_tables WHERE relname = ANY ($1) ORDER BY 1`,
    [tables],
  );
  return rows;
}

try {
  const machine = await describeMachine({ admin, peers: [ours] });
  for (const name of ["years_empty", "years"]) {
    await admin.create(name);
    await cell(name, "W3", 1000);
  }
  const client = new pg.Client({ connectionString: admin.urls("years").databaseUrl });
  await client.connect();
  let began = performance.now();
  const stored = await fillHistory(admin.urls("years").databaseUrl, nodes, { days });
  await admin.run("CHECKPOINT");
  say(`filled ${stored} nodes in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  const before = await sizes(client);

  const rounds = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const empty = await cell("years_empty", "W3", 1000, { repeat: 5 });
    const full = await cell("years", "W3", 1000, { repeat: 5 });
    rounds.push({
      empty: { cpuMs: empty.cpuMs, perSecond: (empty.tasks / empty.wallMs) * 1000 },
      full: { cpuMs: full.cpuMs, perSecond: (full.tasks / full.wallMs) * 1000 },
      foreign: [empty.foreign, full.foreign],
    });
    say(JSON.stringify(rounds.at(-1)));
  }
  const quiet = await cell("years", "W1", 200);
  // The orchestrator of this cell removes what is older than the defaults while it runs the jobs.
  const busy = await cell("years", "W1", 200, { env: {} });

  began = performance.now();
  const { removeOld } = await import("../dist/orchestrator/retention/remove-old.js");
  const { openDatabase } = await import("../dist/adapters/postgres/database.js");
  const { readConfig } = await import("../dist/orchestrator/config.js");
  const url = admin.urls("years").databaseUrl;
  const db = openDatabase({ url, applicationName: "bench retention", max: 2 });
  const settings = readConfig({ DATABASE_URL: url, RMHDAG_DATA_DIR: folder }).retention;
  const deps = { db, storage: { list: async () => ({ items: [] }) }, settings };
  deps.clock = { now: () => new Date() };
  const count = async () => {
    const { rows } = await client.query(
      "SELECT sum(removed_rows)::float8 AS removed FROM dagapp.dag_retention",
    );
    return rows[0].removed;
  };
  const removedBefore = await count();
  let open = (await removeOld(deps, { again: true })).filter(({ more }) => more);
  while (open.length > 0) {
    open = (await removeOld(deps, { classes: open.map((each) => each.class) })).filter(
      ({ more }) => more,
    );
  }
  const removed = (await count()) - removedBefore;
  const seconds = (performance.now() - began) / 1000;
  await db.close();
  say(`removed ${removed} more rows in ${seconds.toFixed(0)} s`);
  // The server's own vacuum: at most as long as its nap and its work take.
  for (let tries = 0; tries < 24; tries++) {
    const dead = (await sizes(client)).filter((each) => each.dead > 0.05 * each.rows + 10_000);
    if (dead.length === 0) break;
    await pause(5000);
  }
  const after = await sizes(client);
  const last = await cell("years", "W3", 1000, { repeat: 5 });
  await client.end();

  const latency = ({ latencies }) => ({
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
  });
  const results = {
    machine,
    nodes: stored,
    rounds,
    cpuRatio: median(rounds.map(({ empty, full }) => full.cpuMs / empty.cpuMs)),
    speedRatio: median(rounds.map(({ empty, full }) => full.perSecond / empty.perSecond)),
    oneTask: { quiet: latency(quiet), whileRemoving: latency(busy) },
    removal: { rows: removed, seconds, perSecond: removed / seconds },
    before,
    after,
    afterRemoval: { cpuMs: last.cpuMs, perSecond: (last.tasks / last.wallMs) * 1000 },
  };
  say(JSON.stringify(results, null, 2));
  const file = new URL("results/retention.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
} finally {
  await admin.close();
  await server.stop();
}

/**
 * `npm run bench:retention -- --nodes 10000000`: a database with years of finished nodes. Is a task as
 * cheap beside them as in an empty one, do jobs notice that old ones are removed, and what is left?
 * Prints a table and writes results/retention.json. Filling takes long: `--data FOLDER` keeps the server's
 * files, `--parts fill`, `speed` or `removal` runs one part with them, and a fill that was stopped goes on.
 */
import { readFile, writeFile } from "node:fs/promises";
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
    data: { type: "string" },
    parts: { type: "string", default: "fill,speed,removal" },
    statements: { type: "boolean", default: false },
  },
});
const nodes = Number(values.nodes);
const parts = values.parts.split(",");
/** Of the three years that the history spans, two are kept: the default. */
const days = 3 * 365;
const classes = ["LOGS", "RESULTS", "EVENTS", "JOBS", "CALLBACKS", "REQUESTS", "DEAD_LETTERS"];
const off = Object.fromEntries(classes.map((name) => [`RETENTION_${name}_DAYS`, "0"]));
const tables = ["dag_jobs", "dag_node_states", "dag_task_results", "dag_job_events"];

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
const say = (text) => process.stdout.write(`${text}\n`);
const folder = makeWorkFolder(values.data);
const server = await startPostgres(folder, say);
const admin = await openAdmin(server.url);
const [ours] = preparePeers([peers[0]], say);

async function cell(database, workload, size, { env = off, repeat = 1 } = {}) {
  const settings = { workers: 1, concurrency: 100, env, statements: values.statements };
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

const latency = ({ latencies }) => ({
  p50: percentile(latencies, 0.5),
  p95: percentile(latencies, 0.95),
});
const figuresOf = ({ cpuMs, cpuByRole, pages, walBytes, tasks, wallMs, foreign, top }) => ({
  ...{ cpuMs, storeMs: cpuByRole.store, pages, walBytes, foreign },
  perSecond: (tasks / wallMs) * 1000,
  ...(top === undefined ? {} : { top }),
});

async function fill(client) {
  const began = performance.now();
  const stored = await fillHistory(admin.urls("years").databaseUrl, nodes, { days });
  await admin.run("CHECKPOINT");
  const seconds = (performance.now() - began) / 1000;
  say(`filled ${stored} nodes in ${seconds.toFixed(0)} s`);
  return { nodes: stored, before: await sizes(client) };
}

async function compareSpeed() {
  const rounds = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const empty = figuresOf(await cell("years_empty", "W3", 1000, { repeat: 5 }));
    const full = figuresOf(await cell("years", "W3", 1000, { repeat: 5 }));
    rounds.push({ empty, full });
    say(JSON.stringify(rounds.at(-1)));
  }
  const ratio = (key) => median(rounds.map(({ empty, full }) => full[key] / empty[key]));
  return {
    rounds,
    cpuRatio: ratio("cpuMs"),
    pagesRatio: ratio("pages"),
    speedRatio: ratio("perSecond"),
  };
}

async function remove(client) {
  const quiet = await cell("years", "W1", 200);
  // The orchestrator of this cell removes what is older than the defaults while it runs the jobs.
  const busy = await cell("years", "W1", 200, { env: {} });
  const began = performance.now();
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
  const last = figuresOf(await cell("years", "W3", 1000, { repeat: 5 }));
  return {
    oneTask: { quiet: latency(quiet), whileRemoving: latency(busy) },
    removal: { rows: removed, seconds, perSecond: removed / seconds },
    after,
    afterRemoval: last,
  };
}

try {
  const machine = await describeMachine({ admin, peers: [ours] });
  if (parts.includes("fill")) {
    for (const name of ["years_empty", "years"]) {
      const known = await admin.run("SELECT FROM pg_database WHERE datname = $1", [name]);
      if (known.length > 0) continue;
      await admin.create(name);
      await cell(name, "W3", 1000);
    }
  }
  const client = new pg.Client({ connectionString: admin.urls("years").databaseUrl });
  await client.connect();
  const file = new URL("results/retention.json", import.meta.url);
  // A part that runs alone keeps the figures of the others.
  const known = parts.includes("fill") ? {} : JSON.parse(await readFile(file, "utf8"));
  const results = {
    ...known,
    machine,
    ...(parts.includes("fill") ? await fill(client) : {}),
    ...(parts.includes("speed") ? await compareSpeed() : {}),
    ...(parts.includes("removal") ? await remove(client) : {}),
  };
  await client.end();
  say(JSON.stringify(results, null, 2));
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
} finally {
  await admin.close();
  await server.stop();
}

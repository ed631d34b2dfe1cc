/**
 * Writes test/fixtures/upgrade/NNNN.sql: the schema after migration NNNN, the last one, with the rows
 * that real programs leave when they are killed in the middle of work. A test restores the file,
 * migrates it and finishes that work. Run it after `npm run build`, before the next migration is
 * written; a file that has landed is kept as it is.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { openDatabase } from "../dist/adapters/postgres/database.js";
import { dumpSchema } from "../dist/adapters/postgres/dump-schema.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { createClient } from "../dist/core/api/client.js";

const root = path.resolve(import.meta.dirname, "..");
const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-upgrade-"));
const workflows = path.join(folder, "workflows");

/** Some of its children are quick; the others nap, and the programs are killed meanwhile. */
const halfDone = `
workflow_id: half_done
inputs: { naps: { type: array, required: true } }
nodes:
  first: { handler: echo, params: { n: 1 }, next: split }
  split:
    type: fan_out
    source: "{{ inputs.naps }}"
    max_concurrency: 4
    task: { handler: sleep, params: { seconds: "{{ item }}" } }
    next: join
  join: { type: fan_in, aggregation: collect, next: last }
  last: { handler: echo, params: { count: "{{ nodes.join.output.count }}" } }
outputs: { count: "{{ nodes.join.output.count }}" }
`;
const broken = `
workflow_id: broken
nodes:
  first: { handler: echo, next: second }
  second: { handler: fail, params: { message: the disk is full }, retry: { max_attempts: 1, initial_delay_seconds: 0 } }
  third: { handler: echo, depends_on: second }
`;

const server = await startEmbeddedPostgres({
  dataDirectory: path.join(folder, "postgres"),
  prefer: "npm",
  sync: false,
});
const db = openDatabase({ url: server.url, applicationName: "rmhdag fixture" });
const partner = createServer((_request, response) => response.end("ok")).listen(0, "127.0.0.1");
await once(partner, "listening");
const programs = [];
try {
  const { version } = await migrate(server.url);
  await makeFiles();
  await work();
  const name = `test/fixtures/upgrade/${String(version).padStart(4, "0")}.sql`;
  await writeFile(path.join(root, name), await dump());
  process.stdout.write(`wrote ${name}\n`);
} finally {
  for (const { child } of programs) child.kill("SIGKILL");
  partner.close();
  await db.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function makeFiles() {
  await mkdir(workflows);
  for (const name of ["echo_test", "checkpoint_test", "vector_etl", "adf_export"]) {
    await cp(path.join(root, "workflows", `${name}.yaml`), path.join(workflows, `${name}.yaml`));
  }
  await writeFile(path.join(workflows, "half_done.yaml"), halfDone);
  await writeFile(path.join(workflows, "broken.yaml"), broken);
  const bronze = path.join(folder, "data/storage/bronze");
  await mkdir(bronze, { recursive: true });
  for (const west of [0, 10]) {
    const ring = [
      [west, 0],
      [west + 1, 0],
      [west + 1, 1],
      [west, 1],
      [west, 0],
    ];
    const geometry = { type: "Polygon", coordinates: [ring] };
    const feature = { type: "Feature", properties: { name: `at ${west}` }, geometry };
    await writeFile(path.join(bronze, `square-${west}.geojson`), JSON.stringify(feature));
  }
}

/** One job of each kind, governed assets with their callbacks, and work that is left half done. */
async function work() {
  const orchestrator = await start("orchestrator", {
    ORCHESTRATOR_ID: "orchestrator-before",
    ORCHESTRATOR_PORT: "0",
    RMHDAG_OPEN_ON_LOOPBACK: "true",
    RMHDAG_WORKFLOWS: workflows,
    CALLBACK_SIGNING_KEY: "a key for the fixture, of more than 32 characters",
    CALLBACK_PRIVATE_NETWORKS: "127.0.0.1/32",
    MAX_DELIVERIES: "5",
  });
  const worker = await start("worker", {
    WORKER_ID: "worker-before",
    WORKER_QUEUE: "functionapp-tasks,dag-worker-tasks,container-tasks",
    WORKER_CONCURRENCY: "3",
    GDAL_ENGINE: "wasm",
  });
  const [baseUrl] = /http:[^"]+/.exec(orchestrator.text());
  const client = createClient({ baseUrl, fetch });
  const submit = async (workflow_id, inputs = {}, more = {}) =>
    (await client.submitJob({ body: { workflow_id, inputs, ...more } })).job_id;
  const ended = (job_id) =>
    until(`the end of ${job_id}`, async () => {
      const job = await client.getJob({ params: { job_id } });
      return job.completed_at !== null;
    });

  for (const id of [
    await submit("echo_test", { message: "before" }, { idempotency_key: "done" }),
    await submit("checkpoint_test", {}, { idempotency_key: "checkpoints" }),
    await submit("broken", {}, { idempotency_key: "failed" }),
  ]) {
    await ended(id);
  }
  await makeAssets(client);

  const cancelled = await submit("half_done", { naps: [600] }, { idempotency_key: "cancelled" });
  await client.cancelJob({ params: { job_id: cancelled }, body: { reason: "enough" } });
  const paused = await submit("half_done", { naps: [0.1] }, { idempotency_key: "paused" });
  await client.pauseJob({ params: { job_id: paused } });
  await db.query(
    `INSERT INTO dagapp.dag_queue_ready (queue, message_key, body)
     VALUES ('functionapp-tasks', 'nonsense', 'no task at all')`,
  );
  await until("a dead letter", () => isAny(`dag_queue_dead`));

  const naps = [0, 0, 1, 1, 1, 1, 1, 1];
  const half = await submit("half_done", { naps }, { idempotency_key: "half done" });
  await until("the first children", () =>
    isAny(
      `dag_node_states WHERE job_id = '${half}' AND parent_node_id = 'split' AND status = 'completed'`,
    ),
  );
  await kill(orchestrator);
  await until("a result that is not processed", () =>
    isAny(`dag_task_inbox WHERE job_id = '${half}'`),
  );
  await kill(worker);
  for (const table of ["dag_orchestrators", "dag_workers"]) {
    await db.query(`UPDATE dagapp.${table} SET host = 'host-before'`);
  }
}

/** A layer with an approved version, a second one for review, a key, and callbacks of both ends. */
async function makeAssets(client) {
  const { port } = partner.address();
  await client.putPlatform({
    params: { platform_id: "birds" },
    body: {
      display_name: "Birds of the world",
      required_refs: ["survey_id"],
      callback_hosts: [`127.0.0.1:${port}`, "hooks.invalid"],
    },
  });
  await client.createKey({
    body: { platform_id: "birds", name: "portal", scopes: ["submit", "read"] },
  });
  const hand = async (label, file, callback_url) => {
    const { asset_id, request_id } = await client.submitAsset({
      body: {
        platform_id: "birds",
        platform_refs: { survey_id: "2026" },
        version_label: label,
        workflow_id: "vector_etl",
        inputs: { blob_path: file, collection_id: "birds" },
        callback_url,
      },
    });
    await until(`the end of ${label}`, async () => {
      const request = await client.getRequest({ params: { request_id } });
      if (request.status === "failed") throw new Error(request.error.message);
      return request.status === "completed";
    });
    return asset_id;
  };
  const asset_id = await hand("first", "square-0.geojson", `http://127.0.0.1:${port}/done`);
  await client.putLayerMetadata({
    params: { asset_id },
    body: { display_name: "Birds", keywords: ["birds"] },
  });
  await client.approveVersion({
    params: { asset_id, version_ordinal: 0 },
    body: { clearance: "ouo" },
  });
  await client.runCommand({ params: { name: "metadata.publish" }, body: { asset_id } });
  await hand("second", "square-10.geojson", "https://hooks.invalid/done");
  await until("a callback that failed", () => isAny(`callback_attempts WHERE error IS NOT NULL`));
}

async function isAny(from) {
  const { rows } = await db.query(`SELECT FROM dagapp.${from} LIMIT 1`);
  return rows.length > 0;
}

async function until(what, condition) {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) {
      throw new Error(
        `Waited in vain for ${what}:\n${programs.map((one) => one.text()).join("\n")}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function start(name, env) {
  const child = spawn(process.execPath, [path.join(root, `dist/programs/${name}.js`)], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: server.url,
      RMHDAG_DATA_DIR: path.join(folder, "data"),
      LOG_FORMAT: "text",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const program = { child, text: () => text };
  programs.push(program);
  await until(`${name} to start`, () => text.includes(`${name} started`));
  return program;
}

async function kill({ child }) {
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** The schema, then every row: without triggers and foreign keys, which refuse rows out of order. */
async function dump() {
  const schema = (await dumpSchema(db)).replace(/^CREATE ROLE (\w+) NOLOGIN;$/m, createRole);
  const { rows: tables } = await db.query(
    `SELECT n.nspname AS schema, c.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')
         AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('dagapp', 'geo') AND c.relkind = 'r' ORDER BY 1, 2`,
  );
  const parts = [
    `-- Made by scripts/make-upgrade-fixture.js. Never edited: it is how databases looked.`,
    schema.replace(/^--.*\n/, ""),
    "SET session_replication_role = replica;",
  ];
  for (const { schema: space, name, columns } of tables) {
    const table = `${space}.${name}`;
    const values = columns.map((column) => `quote_nullable(t."${column}"::text)`).join(", ");
    const { rows } = await db.query(
      `SELECT concat_ws(', ', ${values}) AS text FROM ${table} t ORDER BY t::text`,
    );
    if (rows.length === 0) process.stdout.write(`no rows in ${table}\n`);
    const names = columns.map((column) => `"${column}"`).join(", ");
    for (const { text } of rows) {
      parts.push(`INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE VALUES (${text});`);
    }
  }
  const { rows: sequences } = await db.query(
    `SELECT format('SELECT setval(%L, %s);', schemaname || '.' || sequencename, last_value) AS text
     FROM pg_sequences WHERE schemaname IN ('dagapp', 'geo') AND last_value IS NOT NULL ORDER BY 1`,
  );
  return `${[...parts, ...sequences.map(({ text }) => text), "RESET session_replication_role;"].join("\n")}\n`;
}

/** Roles belong to the server, where another database may have made it. */
function createRole(_line, role) {
  return `DO $$ BEGIN CREATE ROLE ${role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;`;
}

/** Databases of earlier versions are brought up to date, and the work that was going on is finished. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dumpSchema } from "../../src/adapters/postgres/dump-schema.ts";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { quick } from "../faults/mixed-work.ts";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

const migrations = path.resolve(import.meta.dirname, "../../migrations");
const dumps = readdirSync(fixture("upgrade")).filter((name) => name.endsWith(".sql"));

it("no migration that has landed was changed", () => {
  const landed = readFileSync(fixture("upgrade/landed-migrations.sha256"), "utf8");
  const lines = landed.trim().split("\n");
  expect(lines.length).toBeGreaterThanOrEqual(7);
  const found = lines.map((line) => {
    const [, name = ""] = line.split("  ");
    const text = readFileSync(path.join(migrations, name), "utf8").replaceAll("\r\n", "\n");
    return `${createHash("sha256").update(text).digest("hex")}  ${name}`;
  });
  expect(found).toEqual(lines);
});

describe.each(dumps)("the database of %s", (name) => {
  let database: TestDatabase;
  let fleet: Fleet;
  let orchestrator: Orchestrator;

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(await readFile(fixture(`upgrade/${name}`), "utf8"));
    await client.end();
    fleet = new Fleet(database.url);
  });
  afterAll(async () => {
    await fleet.stop();
    await database.drop();
  });

  /** The id of the job that was submitted with this key. */
  async function jobOf(key: string): Promise<string> {
    const { rows } = await database.db.query<{ job_id: string }>(
      `SELECT job_id FROM dagapp.dag_jobs WHERE idempotency_key = $1`,
      [key],
    );
    return rows[0]!.job_id;
  }

  it("gets the migrations that it lacks", async () => {
    const version = Number(name.slice(0, 4));
    const files = readdirSync(migrations).filter((file) => /^\d/.test(file));
    expect((await migrate(database.url)).applied).toEqual(files.sort().slice(version));
    orchestrator = await fleet.orchestrator(quick);
    await fleet.worker({ GDAL_ENGINE: "wasm" });
  });

  it("shows what was there: jobs, assets, callbacks, items and layers", async () => {
    const { client } = orchestrator;
    const ends = ["done", "checkpoints", "failed", "cancelled"].map(async (key) => {
      const job = await client.getJob({ params: { job_id: await jobOf(key) } });
      const { items } = await client.listJobEvents({ params: { job_id: job.job_id } });
      return [key, job.status, items.length > 0];
    });
    expect(await Promise.all(ends)).toEqual([
      ["done", "completed", true],
      ["checkpoints", "completed", true],
      ["failed", "failed", true],
      ["cancelled", "cancelled", true],
    ]);
    const [listed] = (await client.listAssets()).items;
    const asset = await client.getAsset({ params: { asset_id: listed!.asset_id } });
    expect(asset.versions.map((version) => version.approval_state)).toEqual([
      "approved",
      "pending_review",
    ]);
    const { items: deliveries } = await client.listDeliveries();
    expect(deliveries.map(({ state }) => state).toSorted()).toEqual(["delivered", "pending"]);
    const { items: keys } = await client.listKeys({ query: { platform_id: "birds" } });
    expect(keys.map((key) => key.name)).toEqual(["portal"]);
    const { features } = (await (
      await fetch(`${orchestrator.url}/stac/collections/birds/items`)
    ).json()) as { features: { id: string }[] };
    expect(features).toHaveLength(2);
    const layer = `${orchestrator.url}/stac/collections/birds/items/${features[0]!.id}/features/items`;
    expect(await (await fetch(layer)).json()).toMatchObject({ numberMatched: 1 });
  });

  it("finishes the fan-out that was half done, and counts no child twice", async () => {
    const job = await finished(orchestrator, await jobOf("half done"));
    expect(job).toMatchObject({ status: "completed", result_data: { count: 8 } });
  });

  it("resumes the paused job and runs new ones", async () => {
    const { client } = orchestrator;
    const paused = await jobOf("paused");
    await client.resumeJob({ params: { job_id: paused } });
    expect((await finished(orchestrator, paused)).status).toBe("completed");
    const id = await submit(orchestrator, "echo_test", { message: "after" });
    expect(await finished(orchestrator, id)).toMatchObject({ status: "completed" });
    const again = await submit(orchestrator, "fan_out_test", { item_list: [1, 2, 3] });
    expect((await finished(orchestrator, again)).status).toBe("completed");
  });

  it("decides about the version that waited for its review", async () => {
    const { client } = orchestrator;
    const [listed] = (await client.listAssets()).items;
    const params = { asset_id: listed!.asset_id, version_ordinal: 1 };
    await client.approveVersion({ params, body: { clearance: "ouo" } });
    const asset = await client.getAsset({ params: { asset_id: params.asset_id } });
    expect(asset.latest_approved_version_ordinal).toBe(1);
  });

  it("breaks no invariant, and its events replay", async () => {
    await waitFor(
      async () => {
        const { rows } = await database.db.query(`SELECT FROM dagapp.dag_queue_leases`);
        return rows.length === 0;
      },
      { what: "every lease to end" },
    );
    await expectInvariants(database.db);
  });

  it("has the schema of a new database", async () => {
    const { rows } = await database.db.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relnamespace = 'geo'::regnamespace AND relkind = 'r'`,
    );
    for (const layer of rows) await database.db.query(`DROP TABLE ${layer.name}`);
    const schema = await readFile(path.join(migrations, "schema.sql"), "utf8");
    expect(await dumpSchema(database.db)).toBe(schema);
  });
});

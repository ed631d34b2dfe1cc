/** Migration 0008 on the rows of an earlier release: which items get which owner, and who sees them. */
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { itemOf } from "../../../test/support/stac.ts";
import type { Viewer } from "../../core/domain/served-version.ts";
import { migrate } from "./migrate.ts";
import { searchItems } from "./queries/catalogue-items.ts";
import { listCollections } from "./queries/catalogue-collections.ts";

const migrations = path.resolve(import.meta.dirname, "../../../migrations");
let database: TestDatabase;
let before: string;

const asset = (letter: string) => letter.repeat(32);

beforeAll(async () => {
  before = await mkdtemp(path.join(tmpdir(), "rmhdag-before-"));
  for (const file of await readdir(migrations)) {
    if (/^000[1-7]_/.test(file)) await cp(path.join(migrations, file), path.join(before, file));
  }
  database = await createTestDatabase({ empty: true });
  await migrate(database.url, { directory: before });
  await version(asset("a"), "ddh", "approved", "job-a");
  await version(asset("b"), "ddh", "pending_review", "job-b");
  await version(asset("c"), "geonode", "approved", "job-c");
  for (const [id, rerun_of] of [
    ["job-a", null],
    ["job-b", null],
    ["job-b-again", "job-b"],
    ["job-b-once-more", "job-b-again"],
    ["job-operator", null],
  ] as const) {
    await job(id, rerun_of);
  }
  await item("ddh", "named", {});
  await item("ddh", "by-request", { properties: { "platform:request_id": "request-job-b" } });
  await item("ddh", "by-file", { path: "silver/job-b/create_cogs_0/x.tif" });
  await item("ddh", "by-rerun", { path: "silver/job-b-once-more/create_cogs_0/x.tif" });
  await item("ddh", "approved-file", { path: "silver/job-a/create_cogs_0/x.tif" });
  await item("operators", "by-operator", { path: "silver/job-operator/create_cog/x.tif" });
  await item("operators", "catalogued", { path: "silver/set/x.tif" });
  await item("mixed", "of-two", {
    path: "silver/job-a/n/x.tif",
    properties: { "platform:request_id": "request-job-b" },
  });
  await item("mixed", "of-none", { path: "silver/put-there/x.tif" });
  await item("mixed", "of-a-request-that-is-gone", {
    path: "silver/job-operator/create_cog/y.tif",
    properties: { "platform:request_id": "gone" },
  });
  await item("mixed", "of-geonode", { path: "silver/job-c/n/x.tif" });
  await database.db.query(
    `UPDATE dagapp.asset_versions SET stac_collection_id = 'ddh', stac_item_id = 'named'
     WHERE asset_id = $1`,
    [asset("a")],
  );
  await database.db.query(
    `UPDATE dagapp.asset_revisions SET stac_collection_id = 'ddh', stac_item_id = 'named'
     WHERE asset_id = $1`,
    [asset("a")],
  );
  await database.db.query(
    `INSERT INTO dagapp.dag_node_states (job_id, node_id, node_type, status, handler, output,
       completed_at)
     VALUES ('job-operator', 'register', 'task', 'completed', 'raster.stac_register_items',
       '{"collection_id": "operators", "item_ids": ["catalogued"], "count": 1}', now())`,
  );
  await migrate(database.url);
});
afterAll(async () => {
  await database.drop();
  await rm(before, { recursive: true, force: true });
});

async function version(id: string, platform: string, approval: string, jobId: string) {
  const reviewed = approval === "approved" ? "'carol', now()" : "NULL, NULL";
  const cleared = "'ouo', now(), 'carol'";
  await database.db.query(
    `INSERT INTO dagapp.geospatial_assets (asset_id, platform_id, platform_refs, clearance_state,
       cleared_at, cleared_by, latest_approved_version_ordinal)
     VALUES ('${id}', '${platform}', '{"dataset_id": "${id}"}', ${cleared},
       ${approval === "approved" ? 0 : "NULL"})`,
  );
  await database.db.query(
    `INSERT INTO dagapp.asset_versions (asset_id, version_ordinal, version_label, approval_state,
       reviewer, reviewed_at, processing_state, request_id, workflow_id, served_revision)
     VALUES ('${id}', 0, 'V1', '${approval}', ${reviewed}, 'completed', 'request-${jobId}', 'w', 1)`,
  );
  await database.db.query(
    `INSERT INTO dagapp.asset_revisions (asset_id, version_ordinal, revision, request_id,
       workflow_id, created_by) VALUES ('${id}', 0, 1, 'request-${jobId}', 'w', 'carol')`,
  );
  await database.db.query(
    `INSERT INTO dagapp.requests (request_id, platform_id, kind, workflow_id, asset_id,
       version_ordinal, revision, inputs, body_hash, submitted_by, priority, job_id)
     VALUES ('request-${jobId}', '${platform}', 'submit', 'w', '${id}', 0, 1, '{}', 'x', 'p', 0,
       '${jobId}')`,
  );
  await database.db.query(
    `INSERT INTO dagapp.asset_jobs (job_id, asset_id, version_ordinal, revision, request_id, purpose)
     VALUES ('${jobId}', '${id}', 0, 1, 'request-${jobId}', 'process')`,
  );
}

async function job(id: string, rerunOf: string | null) {
  await database.db.query(
    `INSERT INTO dagapp.dag_workflow_versions (workflow_hash, workflow_id, version, definition)
     VALUES (repeat('0', 64), 'w', '1', '{}') ON CONFLICT DO NOTHING`,
  );
  await database.db.query(
    `INSERT INTO dagapp.dag_jobs (job_id, workflow_id, workflow_hash, workflow_version, status,
       nodes_total, nodes_unsettled, rerun_of, started_at, completed_at)
     VALUES ($1, 'w', repeat('0', 64), '1', 'completed', 1, 0, $2, now(), now())`,
    [id, rerunOf],
  );
}

/** As the earlier release wrote it. */
async function item(
  collection: string,
  id: string,
  given: { path?: string; properties?: Record<string, unknown> },
) {
  await database.db.query(
    `INSERT INTO dagapp.stac_collections (collection_id, collection) VALUES ($1, $2)
     ON CONFLICT DO NOTHING`,
    [collection, JSON.stringify({ id: collection })],
  );
  await database.db.query(
    `INSERT INTO dagapp.stac_items (collection_id, item_id, item, box, starts_at, ends_at, paths)
     VALUES ($1, $2, $3, '(1,1),(0,0)', now(), now(), $4)`,
    [
      collection,
      id,
      JSON.stringify(itemOf(collection, id, { properties: given.properties ?? {} })),
      given.path === undefined ? [] : [given.path],
    ],
  );
}

const seenBy = async (viewer: Viewer) => {
  const { items } = await searchItems(database.db, viewer, { filter: {}, sort: [], limit: 100 });
  return items.map((found) => found.item.id).toSorted();
};

it("shows to readers what was approved and what is the operator's, and to curators all", async () => {
  expect(await seenBy({ reads: true, curates: false })).toEqual([
    "approved-file",
    "by-operator",
    "catalogued",
    "named",
    "of-geonode",
  ]);
  expect(await seenBy({ reads: false, curates: false })).toEqual([]);
  expect(await seenBy({ reads: true, curates: true })).toHaveLength(11);
});

it("gives items to the versions whose jobs made them, reruns among them", async () => {
  const { rows } = await database.db.query<{ item_id: string; owner: string | null }>(
    `SELECT item_id, CASE WHEN is_operators THEN 'operator' ELSE left(asset_id, 1) END AS owner
     FROM dagapp.stac_items`,
  );
  expect(Object.fromEntries(rows.map(({ item_id, owner }) => [item_id, owner]))).toEqual({
    named: "a",
    "approved-file": "a",
    "by-request": "b",
    "by-file": "b",
    "by-rerun": "b",
    "by-operator": "operator",
    catalogued: "operator",
    "of-geonode": "c",
    "of-two": null,
    "of-none": null,
    "of-a-request-that-is-gone": null,
  });
});

it("gives collections to the platform or the operators, if all their items agree", async () => {
  const { rows } = await database.db.query(
    `SELECT collection_id, platform_id, is_operators FROM dagapp.stac_collections ORDER BY 1`,
  );
  expect(rows).toEqual([
    { collection_id: "ddh", platform_id: "ddh", is_operators: false },
    { collection_id: "mixed", platform_id: null, is_operators: false },
    { collection_id: "operators", platform_id: null, is_operators: true },
  ]);
  const viewer = { reads: true, curates: false };
  const { collections } = await listCollections(database.db, viewer, 10, undefined);
  expect(collections.map(({ id }) => id)).toEqual(["ddh", "mixed", "operators"]);
});

it("keeps the items with their revisions, so that a rollback finds them", async () => {
  const { rows } = await database.db.query<{ item_id: string }>(
    `SELECT item_id FROM dagapp.stac_revision_items WHERE asset_id = $1 ORDER BY item_id`,
    [asset("a")],
  );
  expect(rows.map(({ item_id }) => item_id)).toEqual(["approved-file", "named"]);
});

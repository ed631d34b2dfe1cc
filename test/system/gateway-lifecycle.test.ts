/**
 * The life of a dataset, through the gateway alone, with the real programs: what a partner does from
 * the first submission to the public copy, and what it may not do on the way.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/core/api/client.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { makeWorkflowFolder } from "../support/domain.ts";
import type { PartnerAccepted, PartnerAsset } from "../support/partner.ts";
import { Partner } from "../support/partner.ts";
import { Fleet } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

/** Answers the path of its input as its output; the test puts the files there. */
const workflow = `
workflow_id: light_etl
inputs:
  file: { required: true }
  asset_id: { default: none }
nodes:
  process:
    handler: echo
    params: { blob_path: "silver/{{ inputs.file }}" }
outputs:
  blob_path: "silver/{{ inputs.file }}"
  stac_collection_id: birds
  stac_item_id: "{{ inputs.asset_id }}"
  content_hash: "{{ inputs.file }}"
`;

let database: TestDatabase;
let fleet: Fleet;
let partner: Partner;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeWorkflowFolder();
  await writeFile(path.join(folder.folder, "light_etl.yaml"), workflow);
  fleet = new Fleet(database.url, folder.folder);
  const orchestrator = await fleet.orchestrator();
  await fleet.worker();
  const { url } = await fleet.gateway(orchestrator);
  const operator = createClient({ baseUrl: orchestrator.url, fetch });
  const body = { platform_id: "ddh", name: "lifecycle", scopes: ["admin" as const] };
  partner = new Partner(url, (await operator.createKey({ body })).key);
  const silver = path.join(fleet.dataDirectory, "storage/silver");
  await mkdir(silver, { recursive: true });
  for (const name of ["v1.tif", "v2.tif"]) await writeFile(path.join(silver, name), name);
}, 120_000);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
  await folder.remove();
});

const submission = (label: string, file: string) => ({
  workflow_id: "light_etl",
  platform_refs: { dataset_id: "birds2023", resource_id: "viewer" },
  version_label: label,
  inputs: { file },
  submitted_by: "alice",
});

const submitted = (label: string, file: string) => partner.submit(submission(label, file));

const refusedSubmission = () =>
  partner.call<{ code: string }>("POST", "/api/platform/submit", submission("next", "v2.tif"), 409);

const shownAt = async (assetId: string) => {
  const { services } = await partner.call<{ services: { version: string; tiles: string }[] }>(
    "GET",
    `/api/assets/${assetId}/services`,
  );
  return services.map(({ version }) => version);
};

describe("the life of a dataset", () => {
  it("goes from the first submission over review and rejection to the last withdrawal", async () => {
    // The first version is processed, and waits.
    const first = await submitted("V1", "v1.tif");
    const { asset_id } = first;
    const asset = `/api/assets/${asset_id}`;
    const get = () => partner.call<PartnerAsset>("GET", asset);
    const act = (ordinal: number, verb: string, body: object) =>
      partner.decide(asset_id, ordinal, verb, body);
    expect(first.version_ordinal).toBe(0);
    expect(await get()).toMatchObject({
      clearance_state: "uncleared",
      latest_approved_version_ordinal: null,
      versions: [{ approval_state: "pending_review", processing_state: "completed" }],
    });
    expect(await shownAt(asset_id)).toEqual([]);

    // No second one while it waits, or is rejected.
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");
    await act(0, "reject", { reason: "the borders are wrong" });
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");

    // Submitted again, approved, served.
    const again = await partner.call<PartnerAccepted>(
      "POST",
      `${asset}/versions/0/resubmit`,
      {},
      202,
    );
    await partner.ended(again.request_id);
    await act(0, "approve", { clearance: "ouo" });
    expect(await get()).toMatchObject({
      clearance_state: "ouo",
      latest_approved_version_ordinal: 0,
    });
    expect(await shownAt(asset_id)).toEqual(["latest"]);

    // The next one: latest stays until it is approved; rejected, it blocks; deleted, it leaves a gap.
    const second = await submitted("V2", "v2.tif");
    expect(second).toMatchObject({ asset_id, version_ordinal: 1 });
    expect(await get()).toMatchObject({ latest_approved_version_ordinal: 0 });
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");
    await act(1, "reject", { reason: "the wrong year" });
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");
    await act(1, "unpublish", {});
    const third = await submitted("V2 again", "v2.tif");
    expect(third.version_ordinal).toBe(2);
    await partner.call("PUT", `${asset}/exposure`, { exposure: "all-versions" });
    expect(await shownAt(asset_id)).toEqual(["latest", "0"]);
    await act(2, "approve", { clearance: "ouo" });
    expect(await get()).toMatchObject({ latest_approved_version_ordinal: 2 });
    expect(await shownAt(asset_id)).toEqual(["latest", "0", "2"]);

    // Processed again: a revision, and no new version.
    const revised = await partner.call<PartnerAccepted>(
      "POST",
      `${asset}/versions/0/reprocess`,
      {},
      202,
    );
    await partner.ended(revised.request_id);
    const [zero] = (await get()).versions;
    expect(zero).toMatchObject({ revision: revised.revision, approval_state: "approved" });
    expect(revised.revision).toBeGreaterThan(again.revision);

    // Withdrawn, and gone from this moment.
    await act(2, "withdraw", { reason: "a mistake in the legend" });
    expect(await get()).toMatchObject({ latest_approved_version_ordinal: 0 });
    expect(await shownAt(asset_id)).toEqual(["latest", "0"]);

    const { items } = await partner.call<{ items: { event_type: string; actor: string }[] }>(
      "GET",
      `${asset}/events?limit=200`,
    );
    const done = (type: string) => items.filter(({ event_type }) => event_type === type);
    for (const [type, times] of Object.entries({
      asset_created: 1,
      version_submitted: 3,
      version_resubmitted: 1,
      version_rejected: 2,
      version_approved: 2,
      version_deleted: 1,
      version_reprocessed: 1,
      version_withdrawn: 1,
      exposure_changed: 1,
    })) {
      expect([type, done(type).length]).toEqual([type, times]);
    }
    for (const { actor } of done("version_approved")) expect(actor).toMatch(/^ddh\/.+:carol$/);
    for (const { actor } of done("version_submitted")) expect(actor).toMatch(/^ddh\/.+:alice$/);
    expect(done("clearance_changed").length).toBeGreaterThan(0);
  }, 120_000);

  it("ends in a copy for the public, when it is cleared for it", async () => {
    const { items } = await partner.call<{ items: { asset_id: string }[] }>("GET", "/api/assets");
    const asset = `/api/assets/${items[0]!.asset_id}`;
    const get = () => partner.call<PartnerAsset>("GET", asset);
    await partner.call("POST", `${asset}/versions/2/approve`, {
      clearance: "public",
      actor: "carol",
    });
    const exported = await waitFor(
      async () => {
        const { versions } = await get();
        const { export_state, external_blob_path } = versions.find(
          ({ version_ordinal }) => version_ordinal === 2,
        )!;
        return export_state === "completed" && external_blob_path;
      },
      { what: "the export", timeoutMs: 30_000 },
    );
    expect(exported).toMatch(/^external\//);
    expect(existsSync(path.join(fleet.dataDirectory, "storage", exported))).toBe(true);

    expect(await get()).toMatchObject({ clearance_state: "public" });
    await partner.call("PUT", `${asset}/clearance`, { clearance: "ouo", actor: "carol" });
    expect(await get()).toMatchObject({ clearance_state: "ouo" });
    // Approval ran adf_export; the end of the clearance runs adf_withdraw.
    const copy = path.join(fleet.dataDirectory, "storage", exported);
    await waitFor(() => !existsSync(copy), { what: "the public copy to be gone" });
  }, 60_000);

  it("shows the partner no job, from beginning to end", async () => {
    const { rows } = await database.db.query<{ job_id: string }>(
      "SELECT job_id FROM dagapp.dag_jobs",
    );
    expect(rows.length).toBeGreaterThan(4);
    for (const { job_id } of rows) {
      expect(partner.answers.filter((text) => text.includes(job_id))).toEqual([]);
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest } from "../../../test/support/api.ts";
import { makeWorkflowFolder } from "../../../test/support/domain.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { reconcileExports } from "./export-version.ts";

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  await test.storage.put("bronze/ddh/birds.tif", new Uint8Array([1, 2, 3]));
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

let counter = 0;

function submission(dataset: string, more: JsonObject = {}) {
  return {
    platform_id: "ddh",
    platform_refs: { dataset_id: dataset, resource_id: "viewer" },
    version_label: "V1",
    workflow_id: "etl_test",
    inputs: { blob_path: "ddh/birds.tif" },
    submitted_by: "partner",
    ...more,
  };
}

const submit = (dataset: string, more: JsonObject = {}) =>
  test.operator.submitAsset({ body: submission(dataset, more) });

const newDataset = () => `dataset-${++counter}`;

const outputs = {
  blob_path: "silver/birds.tif",
  stac_collection_id: "birds",
  stac_item_id: "birds-v1",
  content_hash: "a".repeat(64),
};

/** What a worker would do with whatever is queued for a job, until nothing is. */
async function work(jobId: string, output: JsonObject = outputs): Promise<void> {
  for (;;) {
    const tasks = await test.engine.take(jobId);
    for (const task of tasks) await test.engine.complete(task, output);
    await test.engine.tick();
    if (tasks.length === 0) return;
  }
}

async function fail(jobId: string): Promise<void> {
  const error = { category: "permanent" as const, message: `${jobId} broke` };
  for (const task of await test.engine.take(jobId)) await test.engine.fail(task, error);
  await test.engine.tick();
}

const getAsset = (asset_id: string) => test.reader.getAsset({ params: { asset_id } });
const approve = (asset_id: string, version_ordinal: number, clearance: "ouo" | "public" = "ouo") =>
  test.curator.approveVersion({ params: { asset_id, version_ordinal }, body: { clearance } });
const reject = (asset_id: string, version_ordinal: number) =>
  test.curator.rejectVersion({
    params: { asset_id, version_ordinal },
    body: { reason: "the borders are wrong" },
  });

/** A data set whose first version is processed. */
async function processed(dataset = newDataset()) {
  const accepted = await submit(dataset);
  await work(accepted.job_id);
  return { dataset, ...accepted };
}

async function approved(clearance: "ouo" | "public" = "ouo") {
  const made = await processed();
  await approve(made.asset_id, 0, clearance);
  return made;
}

const events = async (asset_id: string) =>
  (await test.reader.listAssetEvents({ params: { asset_id } })).items;

describe("a submission", () => {
  it("creates request, asset, version and job at once", async () => {
    const accepted = await submit("birds2023");
    expect(accepted).toMatchObject({
      version_ordinal: 0,
      version_label: "V1",
      revision: 1,
      status: "pending",
      created: true,
    });
    const asset = await getAsset(accepted.asset_id);
    expect(asset).toMatchObject({
      clearance_state: "uncleared",
      exposure: "latest-only",
      latest_approved_version_ordinal: null,
      platform_refs: { dataset_id: "birds2023", resource_id: "viewer" },
    });
    expect(asset.versions).toMatchObject([
      {
        approval_state: "pending_review",
        processing_state: "queued",
        current_job_id: accepted.job_id,
      },
    ]);
    const job = await test.reader.getJob({ params: { job_id: accepted.job_id } });
    expect(job.correlation_id).toBe(accepted.request_id);
    // What the workflow declares of its version it learns.
    expect(job.input_params).toMatchObject({ asset_id: accepted.asset_id, revision: 1 });
  });

  it("is answered with its outputs when the job completed, and never with a job id", async () => {
    const { asset_id, request_id, job_id } = await submit(newDataset());
    const params = { request_id };
    expect((await test.reader.getRequest({ params })).status).toBe("pending");
    await work(job_id);
    const request = await test.reader.getRequest({ params });
    expect(request).toMatchObject({ status: "completed", percent: 100, error: null });
    expect(request.result).toMatchObject({ ...outputs, log: `made by ${request_id}` });
    expect(JSON.stringify(request.result)).not.toContain(job_id);
    const asset = await getAsset(asset_id);
    expect(asset.versions[0]).toMatchObject({
      processing_state: "completed",
      served_revision: 1,
      ...outputs,
    });
    expect(asset.previews).toHaveLength(1);
    expect(asset.services).toEqual([]);
  });

  it("says why its job failed, without naming it", async () => {
    const { asset_id, request_id, job_id } = await submit(newDataset());
    await fail(job_id);
    const request = await test.reader.getRequest({ params: { request_id } });
    expect(request).toMatchObject({
      status: "failed",
      error: { code: "BOOM", message: `${request_id} broke` },
      result: null,
    });
    expect((await getAsset(asset_id)).versions[0]).toMatchObject({
      processing_state: "failed",
      served_revision: null,
    });
    await expect(approve(asset_id, 0)).rejects.toMatchObject({ code: "VERSION_NOT_PROCESSED" });
  });

  it("is answered with everything that is wrong at once, and creates nothing", async () => {
    const count = async () =>
      (await test.database.db.query<{ n: number }>("SELECT count(*) AS n FROM dagapp.dag_jobs"))
        .rows[0]?.n;
    const before = await count();
    const body = submission("x", {
      platform_refs: { dataset_id: "only", colour: "red", resource_id: 1e16 },
      inputs: {
        blob_path: "ddh/gone.tif",
        target_crs: "4326",
        mode: "lazy",
        asset_id: "mine",
        oops: 1,
      },
      callback_url: "https://evil.example/hook",
    });
    const unlabelled = { ...body, version_label: undefined };
    const error = (await test.operator.submitAsset({ body: unlabelled }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )) as { code: string; status: number; items: { pointer: string; code: string }[] };
    expect(error).toMatchObject({ code: "INVALID_SUBMISSION", status: 400 });
    expect(error.items.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
      "/callback_url CALLBACK_URL",
      "/inputs/asset_id RESERVED_INPUT",
      "/inputs/blob_path BLOB_NOT_FOUND",
      "/inputs/mode WRONG_INPUT",
      "/inputs/oops UNKNOWN_INPUT",
      "/inputs/target_crs CRS_FORMAT",
      "/platform_refs/colour REF_UNKNOWN",
      "/platform_refs/resource_id REF_AMBIGUOUS",
      "/version_label LABEL_MISSING",
    ]);
    expect(await count()).toBe(before);
  });

  it("takes the version from the platform's own reference, which is no part of the identity", async () => {
    const dataset = newDataset();
    const platform_refs = { dataset_id: dataset, resource_id: "viewer", version_id: "2025-Q1" };
    const body = { ...submission(dataset, { platform_refs }), version_label: undefined };
    const accepted = await test.operator.submitAsset({ body });
    expect(accepted.version_label).toBe("2025-Q1");
    expect((await getAsset(accepted.asset_id)).platform_refs).not.toHaveProperty("version_id");
  });

  it("answers a repeated key or id with the first request, and refuses it for another", async () => {
    const dataset = newDataset();
    const first = await submit(dataset, { idempotency_key: dataset, request_id: `r-${dataset}` });
    const again = await submit(dataset, { idempotency_key: dataset });
    expect(again).toMatchObject({ request_id: first.request_id, created: false });
    const byId = await submit(dataset, { request_id: `r-${dataset}` });
    expect(byId).toMatchObject({ job_id: first.job_id, created: false });
    await expect(
      submit(dataset, { idempotency_key: dataset, version_label: "V2" }),
    ).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  });

  it("makes one asset, one version and one job of two hundred at the same moment", async () => {
    const dataset = newDataset();
    const answers = await Promise.allSettled(Array.from({ length: 200 }, () => submit(dataset)));
    const good = answers.filter((answer) => answer.status === "fulfilled");
    expect(good).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === "rejected") {
        expect(answer.reason).toMatchObject({ code: "VERSION_UNRESOLVED", status: 409 });
      }
    }
    const { asset_id } = good[0]!.value;
    const { rows } = await test.database.db.query(
      `SELECT (SELECT count(*) FROM dagapp.asset_versions WHERE asset_id = $1)::int AS versions,
         (SELECT count(*) FROM dagapp.asset_jobs WHERE asset_id = $1)::int AS jobs,
         (SELECT count(*) FROM dagapp.requests WHERE asset_id = $1)::int AS requests`,
      [asset_id],
    );
    expect(rows[0]).toEqual({ versions: 1, jobs: 1, requests: 1 });
  });

  it("of two hundred with one key, one is made and all are answered with it", async () => {
    const dataset = newDataset();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => submit(dataset, { idempotency_key: dataset })),
    );
    expect(new Set(answers.map(({ request_id }) => request_id)).size).toBe(1);
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
  });
});

describe("versions are resolved in order", () => {
  it("refuses the next one while one waits for review, is rejected, or was withdrawn", async () => {
    const { dataset, asset_id } = await processed();
    const next = () => submit(dataset, { version_label: "V2" });
    await expect(next()).rejects.toMatchObject({ code: "VERSION_UNRESOLVED" });
    await reject(asset_id, 0);
    await expect(next()).rejects.toMatchObject({ code: "VERSION_UNRESOLVED" });
    await approve(asset_id, 0);
    await test.curator.withdrawVersion({
      params: { asset_id, version_ordinal: 0 },
      body: { reason: "a complaint" },
    });
    await expect(next()).rejects.toMatchObject({ code: "VERSION_UNRESOLVED" });
    await approve(asset_id, 0);
    expect((await next()).version_ordinal).toBe(1);
  });

  it("moves latest with an approval and leaves the versions before it as they are", async () => {
    const { dataset, asset_id } = await approved();
    const second = await submit(dataset, { version_label: "V2" });
    await work(second.job_id, { ...outputs, blob_path: "silver/birds2.tif" });
    expect((await getAsset(asset_id)).latest_approved_version_ordinal).toBe(0);
    await approve(asset_id, 1);
    const asset = await getAsset(asset_id);
    expect(asset.latest_approved_version_ordinal).toBe(1);
    expect(asset.versions[0]).toMatchObject({
      approval_state: "approved",
      blob_path: "silver/birds.tif",
    });
  });

  it("gives the next ordinal after a version was rejected and deleted", async () => {
    const { dataset, asset_id } = await processed();
    await reject(asset_id, 0);
    const params = { asset_id, version_ordinal: 0 };
    const deleted = await test.curator.unpublishVersion({ params, body: {} });
    expect(deleted.versions[0]).toMatchObject({ deleted_by: "curator" });
    expect((await submit(dataset, { version_label: "V1b" })).version_ordinal).toBe(1);
  });
});

describe("a review", () => {
  it("is decided once: of approve and reject at the same moment one wins", async () => {
    for (let round = 0; round < 5; round++) {
      const { asset_id } = await processed();
      const headers = { "if-match": `"${(await getAsset(asset_id)).row_version}"` };
      const params = { asset_id, version_ordinal: 0 };
      const both = await Promise.allSettled([
        test.curator.approveVersion({ params, headers, body: { clearance: "ouo" } }),
        test.curator.rejectVersion({ params, headers, body: { reason: "no" } }),
      ]);
      const winners = both.filter(({ status }) => status === "fulfilled");
      expect(winners).toHaveLength(1);
      const loser = both.find(({ status }) => status === "rejected") as PromiseRejectedResult;
      expect(loser.reason).toMatchObject({ code: "EDIT_CONFLICT", status: 409 });
    }
  });

  it("is refused for a state that does not allow it, and on a state that is no longer so", async () => {
    const { asset_id } = await approved();
    await expect(approve(asset_id, 0)).rejects.toMatchObject({ code: "TRANSITION_REFUSED" });
    await expect(approve(asset_id, 7)).rejects.toMatchObject({ code: "VERSION_NOT_FOUND" });
    await expect(
      test.curator.setExposure({
        params: { asset_id },
        headers: { "if-match": '"1"' },
        body: { exposure: "all-versions" },
      }),
    ).rejects.toMatchObject({ code: "EDIT_CONFLICT" });
  });

  it("needs a curator", async () => {
    const { asset_id } = await processed();
    const params = { asset_id, version_ordinal: 0 };
    await expect(
      test.operator.approveVersion({ params, body: { clearance: "ouo" } }),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("processing again", () => {
  it("counts a revision, keeps the approval, and can be rolled back", async () => {
    const { asset_id } = await approved();
    const params = { asset_id, version_ordinal: 0 };
    const again = await test.operator.reprocessVersion({ params });
    expect(again.revision).toBe(2);
    // Until it is done the first revision is served.
    expect((await getAsset(asset_id)).versions[0]).toMatchObject({
      approval_state: "approved",
      revision: 2,
      served_revision: 1,
      blob_path: "silver/birds.tif",
    });
    await expect(test.operator.reprocessVersion({ params })).rejects.toMatchObject({
      code: "VERSION_BUSY",
    });
    await work(again.job_id, { ...outputs, blob_path: "silver/birds-r2.tif" });
    expect((await getAsset(asset_id)).versions[0]).toMatchObject({
      served_revision: 2,
      blob_path: "silver/birds-r2.tif",
    });
    await test.operator.rollbackVersion({ params, body: { to_revision: 1 } });
    const version = await test.reader.getAssetVersion({ params });
    expect(version).toMatchObject({
      revision: 3,
      served_revision: 3,
      blob_path: "silver/birds.tif",
    });
    expect(
      version.revisions.map(({ revision, restored_from }) => [revision, restored_from]),
    ).toEqual([
      [3, 1],
      [2, null],
      [1, null],
    ]);
    await expect(
      test.operator.rollbackVersion({ params, body: { to_revision: 9 } }),
    ).rejects.toMatchObject({ code: "REVISION_NOT_FOUND" });
  });

  it("of a rejected version with new data waits for a new review", async () => {
    const { asset_id } = await processed();
    await reject(asset_id, 0);
    await test.storage.put("bronze/ddh/better.tif", new Uint8Array([4]));
    const params = { asset_id, version_ordinal: 0 };
    const again = await test.operator.resubmitVersion({
      params,
      body: { inputs: { blob_path: "ddh/better.tif" } },
    });
    await work(again.job_id);
    expect((await getAsset(asset_id)).versions[0]).toMatchObject({
      approval_state: "pending_review",
      rejection_reason: null,
      processing_state: "completed",
      revision: 2,
    });
  });

  it("by a retry of the failed job answers the same request", async () => {
    const { asset_id, request_id, job_id } = await submit(newDataset());
    await fail(job_id);
    const retried = await test.operator.retryJob({ params: { job_id } });
    const waiting = await test.reader.getRequest({ params: { request_id } });
    expect(waiting).toMatchObject({ status: "pending", job_id: retried.job_id });
    await work(retried.job_id);
    expect((await getAsset(asset_id)).versions[0]).toMatchObject({
      processing_state: "completed",
      revision: 1,
      current_job_id: retried.job_id,
    });
  });
});

describe("public clearance", () => {
  /** The outputs of both nodes together. */
  const exported = {
    folder: "gold/birds",
    main_file: "birds.tif",
    manifest_path: "gold/birds/manifest.json",
    file_count: 2,
    copied_by: "data_factory",
    external_blob_path: "external/birds.tif",
    adf_run_id: "run-1",
    bytes: 3,
  };

  it("starts the export once, and records where the copy is", async () => {
    const { asset_id, request_id } = await approved("public");
    const [version] = (await getAsset(asset_id)).versions;
    expect(version).toMatchObject({ export_state: "running", external_blob_path: null });
    const job = await test.reader.getJob({ params: { job_id: version!.export_job_id! } });
    expect(job).toMatchObject({ workflow_id: "adf_export", correlation_id: request_id });
    // A second export of the same revision is refused, also on request.
    const params = { asset_id, version_ordinal: 0 };
    await expect(test.operator.exportVersion({ params })).rejects.toMatchObject({
      code: "TRANSITION_REFUSED",
    });
    await reconcileExports(test.domain);
    const jobs = await test.reader.listJobs({ query: { correlation_id: request_id } });
    expect(jobs.items.map(({ workflow_id }) => workflow_id).sort()).toEqual([
      "adf_export",
      "etl_test",
    ]);
    await work(job.job_id, exported);
    expect((await getAsset(asset_id)).versions[0]).toMatchObject({
      export_state: "completed",
      external_blob_path: "external/birds.tif",
      adf_run_id: "run-1",
    });
    // The request was answered when its data was processed, and stays so.
    expect((await test.reader.getRequest({ params: { request_id } })).status).toBe("completed");
  });

  it("given later starts it as well, and taken back removes the copy", async () => {
    const { asset_id } = await approved();
    const params = { asset_id };
    await test.curator.setClearance({ params, body: { clearance: "public" } });
    const [version] = (await getAsset(asset_id)).versions;
    await work(version!.export_job_id!, exported);
    const withdrawn = await test.curator.setClearance({
      params,
      body: { clearance: "ouo", reason: "a complaint" },
    });
    expect(withdrawn).toMatchObject({ clearance_state: "ouo", made_public_at: null });
    const started = (await events(asset_id)).at(-1);
    expect(started).toMatchObject({ event_type: "export_withdrawn" });
    await work(started!.event_data!["job_id"] as string, { removed: true });
    expect((await getAsset(asset_id)).versions[0]).toMatchObject({
      export_state: "withdrawn",
      external_blob_path: null,
    });
  });

  it("taken back also removes what a failed export may have copied", async () => {
    const { asset_id } = await approved("public");
    await fail((await getAsset(asset_id)).versions[0]!.export_job_id!);
    const params = { asset_id };
    await test.curator.setClearance({ params, body: { clearance: "ouo" } });
    const started = (await events(asset_id)).at(-1);
    expect(started).toMatchObject({ event_type: "export_withdrawn" });
    await work(started!.event_data!["job_id"] as string, { removed: 1, adf_run_id: null });
    expect((await getAsset(asset_id)).versions[0]!.export_state).toBe("withdrawn");
    expect(await reconcileExports(test.domain)).toBe(0);
  });

  it("of a version that is reprocessed exports the new revision", async () => {
    const { asset_id } = await approved("public");
    await work((await getAsset(asset_id)).versions[0]!.export_job_id!, exported);
    const params = { asset_id, version_ordinal: 0 };
    const again = await test.operator.reprocessVersion({ params });
    await work(again.job_id, { ...outputs, blob_path: "silver/birds-r2.tif" });
    await reconcileExports(test.domain);
    const [version] = (await getAsset(asset_id)).versions;
    const job = await test.reader.getJob({ params: { job_id: version!.export_job_id! } });
    expect(job.input_params).toMatchObject({ revision: 2, blob_path: "silver/birds-r2.tif" });
  });

  it("whose export fails can be tried again", async () => {
    const { asset_id } = await approved("public");
    await fail((await getAsset(asset_id)).versions[0]!.export_job_id!);
    expect((await getAsset(asset_id)).versions[0]!.export_state).toBe("failed");
    const params = { asset_id, version_ordinal: 0 };
    const started = await test.operator.exportVersion({ params });
    await work(started.versions[0]!.export_job_id!, exported);
    expect((await getAsset(asset_id)).versions[0]!.export_state).toBe("completed");
  });
});

describe("deleting", () => {
  it("stops what is being made", async () => {
    const { asset_id, request_id, job_id } = await submit(newDataset());
    await test.curator.unpublishAsset({ params: { asset_id }, body: { reason: "a mistake" } });
    await test.engine.tick();
    expect((await test.engine.job(job_id)).status).toBe("cancelled");
    expect((await test.reader.getRequest({ params: { request_id } })).status).toBe("cancelled");
    expect((await getAsset(asset_id)).deleted_by).toBe("curator");
  });

  it("of an asset is undone by the next submission, with the next ordinal", async () => {
    const { dataset, asset_id } = await approved();
    await test.curator.unpublishAsset({ params: { asset_id } });
    const accepted = await submit(dataset, { version_label: "V2" });
    expect(accepted).toMatchObject({ asset_id, version_ordinal: 1 });
    expect((await getAsset(asset_id)).deleted_at).toBeNull();
  });
});

describe("the audit trail", () => {
  it("names every transition with its actor and whose token it was", async () => {
    const made = await processed();
    const params = { asset_id: made.asset_id, version_ordinal: 0 };
    await test.curator.approveVersion({ params, body: { clearance: "ouo", actor: "ann" } });
    const recorded = (await events(made.asset_id)).map(
      ({ event_type, actor, via }) => `${event_type} ${actor} ${via}`,
    );
    expect(recorded).toEqual([
      "asset_created partner operator",
      "version_submitted partner operator",
      "processing_completed orchestrator engine",
      "version_approved ann curator",
      "clearance_changed ann curator",
    ]);
  });

  it("cannot be changed", async () => {
    const { asset_id } = await processed();
    const change = test.database.db.query(
      "UPDATE dagapp.asset_events SET actor = 'me' WHERE asset_id = $1",
      [asset_id],
    );
    await expect(change).rejects.toMatchObject({ constraint: "asset_events_stay" });
  });
});

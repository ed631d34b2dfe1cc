import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest } from "../../../test/support/api.ts";
import { makeWorkflowFolder } from "../../../test/support/domain.ts";
import type { TaskRequest } from "../../core/model/task-request.ts";
import { askOrchestrator, findAnswer } from "../../adapters/postgres/repositories/task-requests.ts";
import { answerTasks } from "./answer-tasks.ts";

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

const submit = (dataset_id: string) =>
  test.operator.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id, resource_id: "viewer" },
      version_label: "V1",
      workflow_id: "etl_test",
      inputs: { blob_path: "ddh/birds.tif" },
      submitted_by: "partner",
    },
  });

/** A data set whose first version is processed. */
async function processed(dataset: string) {
  const accepted = await submit(dataset);
  for (const task of await test.engine.take(accepted.job_id)) {
    await test.engine.complete(task, { blob_path: "silver/birds.tif" });
  }
  await test.engine.tick();
  return accepted;
}

const events = async (asset_id: string) =>
  (await test.reader.listAssetEvents({ params: { asset_id } })).items;

describe("a task", () => {
  const ask = async (task_id: string, request: TaskRequest) => {
    const { db } = test.database;
    await askOrchestrator(db, { task_id, job_id: "job-1" }, request);
    await answerTasks(test.domain);
    return findAnswer(db, task_id);
  };

  it("approves and rejects versions by asking, once however often it is delivered", async () => {
    const [good, bad] = [await processed("good"), await processed("bad")];
    const version = (asset_id: string) => ({ asset_id, version_ordinal: 0 });
    const approval = {
      action: "approve" as const,
      params: { ...version(good.asset_id), clearance: "ouo" as const, reviewer: "ann" },
    };
    const approved = { ok: true, result: { approval_state: "approved", clearance_state: "ouo" } };
    expect(await ask("approve-1", approval)).toMatchObject(approved);
    expect(await ask("approve-1", approval)).toMatchObject(approved);
    const names = (await events(good.asset_id)).map(({ event_type }) => event_type);
    expect(names.filter((name) => name === "version_approved").length).toBe(1);
    const rejection = { ...version(bad.asset_id), reason: "blurred", reviewer: "ann" };
    expect(await ask("reject-1", { action: "reject", params: rejection })).toMatchObject({
      ok: true,
      result: { approval_state: "rejected" },
    });
  });

  it("is told why a version cannot be reviewed", async () => {
    const { asset_id } = await submit("waiting");
    const params = { asset_id, version_ordinal: 0 };
    expect(await ask("trigger-1", { action: "trigger_approval", params })).toMatchObject({
      ok: false,
      code: "VERSION_NOT_PROCESSED",
    });
    const unknown = { asset_id: "0".repeat(32), version_ordinal: 0 };
    expect(await ask("trigger-2", { action: "trigger_approval", params: unknown })).toMatchObject({
      ok: false,
      code: "ASSET_NOT_FOUND",
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { clearanceState, exposure } from "../../core/model/asset.ts";
import { deliveryState, jobPurpose, requestKind, requestStatus } from "../../core/model/request.ts";
import { mayBecome } from "../../core/model/transitions.ts";
import {
  approvalMachine,
  approvalState,
  exportState,
  processingMachine,
  processingState,
} from "../../core/model/version.ts";

describe("the database guards the domain as the code does", () => {
  let database: TestDatabase;
  let made = 0;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  /** Answers the error of a refused change, undefined for an allowed one. */
  async function refusal(text: string, values: readonly unknown[]): Promise<string | undefined> {
    try {
      await database.db.query(text, values);
      return undefined;
    } catch (error) {
      return (error as { constraint?: string }).constraint ?? String(error);
    }
  }

  async function makeAsset(): Promise<string> {
    const id = (++made).toString(16).padStart(32, "0");
    await database.db.query(
      `INSERT INTO dagapp.geospatial_assets (asset_id, platform_id, platform_refs)
       VALUES ($1, 'ddh', '{}')`,
      [id],
    );
    return id;
  }

  async function makeVersion(approval: string, processing: string): Promise<string> {
    const id = await makeAsset();
    await database.db.query(
      `INSERT INTO dagapp.asset_versions (asset_id, version_ordinal, version_label, request_id,
         workflow_id, approval_state, processing_state, reviewer, reviewed_at, rejection_reason,
         processing_error)
       VALUES ($1, 0, 'V1', 'r', 'w', $2::dagapp.approval_state, $3::dagapp.processing_state,
         'ann', now(), CASE WHEN $2 = 'rejected' THEN 'why' END,
         CASE WHEN $3 = 'failed' THEN 'why' END)`,
      [id, approval, processing],
    );
    return id;
  }

  it("lets an approval follow only as the table says", async () => {
    for (const from of approvalState.options) {
      for (const to of approvalState.options.filter((state) => state !== from)) {
        const refused = await refusal(
          `UPDATE dagapp.asset_versions SET approval_state = $2::dagapp.approval_state,
             rejection_reason = CASE WHEN $2 = 'rejected' THEN 'why' END WHERE asset_id = $1`,
          [await makeVersion(from, "completed"), to],
        );
        const expected = mayBecome(approvalMachine, from, to) ? undefined : "approval_transition";
        expect(refused, `${from} → ${to}`).toBe(expected);
      }
    }
  });

  it("lets a processing follow only as the table says", async () => {
    for (const from of processingState.options) {
      for (const to of processingState.options.filter((state) => state !== from)) {
        const refused = await refusal(
          `UPDATE dagapp.asset_versions SET processing_state = $2::dagapp.processing_state,
             processing_error = CASE WHEN $2 = 'failed' THEN 'why' END WHERE asset_id = $1`,
          [await makeVersion("pending_review", from), to],
        );
        const expected = mayBecome(processingMachine, from, to)
          ? undefined
          : "processing_transition";
        expect(refused, `${from} → ${to}`).toBe(expected);
      }
    }
  });

  it.each([
    ["clearance_state", clearanceState.options],
    ["approval_state", approvalState.options],
    ["processing_state", processingState.options],
    ["export_state", exportState.options],
    ["exposure", exposure.options],
    ["request_kind", requestKind.options],
    ["request_status", requestStatus.options],
    ["job_purpose", jobPurpose.options],
    ["delivery_state", deliveryState.options],
  ])("has the values of %s that the code has", async (type, options) => {
    const { rows } = await database.db.query<{ values: string[] }>(
      `SELECT enum_range(NULL::dagapp.${type})::text[] AS values`,
    );
    expect(rows[0]?.values).toEqual(options);
  });

  it.each([
    ["the approval of what was not processed", "approval_of_something", "queued", "approved"],
    ["a rejection without a reason", "rejected_for_a_reason", "completed", "rejected"],
  ])("refuses %s", async (_, constraint, processing, approval) => {
    const id = await makeVersion("pending_review", processing);
    const text = "UPDATE dagapp.asset_versions SET approval_state = $2 WHERE asset_id = $1";
    expect(await refusal(text, [id, approval])).toBe(constraint);
  });

  it("refuses a second unresolved version, and lets a withdrawn one be", async () => {
    const id = await makeVersion("approved", "completed");
    const add = (ordinal: number) =>
      refusal(
        `INSERT INTO dagapp.asset_versions
           (asset_id, version_ordinal, version_label, request_id, workflow_id)
         VALUES ($1, $2, 'V', 'r', 'w')`,
        [id, ordinal],
      );
    expect(await add(1)).toBeUndefined();
    expect(await add(2)).toBe("asset_versions_one_unresolved");
    const withdraw = `UPDATE dagapp.asset_versions SET approval_state = 'pending_review',
      withdrawn_at = now() WHERE asset_id = $1 AND version_ordinal = 0`;
    expect(await refusal(withdraw, [id])).toBeUndefined();
  });

  it("refuses that an asset becomes another, and that what is deleted comes back", async () => {
    const id = await makeVersion("rejected", "completed");
    const rename = `UPDATE dagapp.geospatial_assets SET platform_refs = '{"a": 1}' WHERE asset_id = $1`;
    expect(await refusal(rename, [id])).toBe("asset_identity");
    const set = "UPDATE dagapp.asset_versions SET deleted_at";
    await database.db.query(`${set} = now(), deleted_by = 'ann' WHERE asset_id = $1`, [id]);
    const restore = `${set} = NULL, deleted_by = NULL WHERE asset_id = $1`;
    expect(await refusal(restore, [id])).toBe("version_stays_deleted");
  });

  it("knows each purpose of a revision's job once", async () => {
    const id = await makeVersion("approved", "completed");
    const add = (job: string) =>
      refusal(
        `INSERT INTO dagapp.asset_jobs
           (job_id, asset_id, version_ordinal, revision, request_id, purpose)
         VALUES ($1, $2, 0, 1, 'r', 'export')`,
        [job, id],
      );
    expect(await add("first")).toBeUndefined();
    expect(await add("second")).toBe("asset_jobs_once");
  });
});

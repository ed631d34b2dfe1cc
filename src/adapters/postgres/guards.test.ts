import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { eventStatus } from "../../core/model/event.ts";
import { jobMachine, jobStatus } from "../../core/model/job.ts";
import { nodeMachine, nodeStatus, nodeType } from "../../core/model/node.ts";
import { mayBecome } from "../../core/model/transitions.ts";

/**
 * Constraints and triggers compare statuses with >= and >, so they depend on the order of the values in
 * the enums job_status and node_status: open states first, in the order of a run, and from 'completed'
 * on only terminal ones. A migration that adds a status must put it at its place in that order.
 */
describe("the database guards states as the code does", () => {
  let database: TestDatabase;
  const hash = "0".repeat(64);

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.db.query(
      `INSERT INTO dagapp.dag_workflow_versions (workflow_hash, workflow_id, version, definition)
       VALUES ($1, 'w', '1', '{}')`,
      [hash],
    );
  });
  afterAll(() => database.drop());

  const finished = (status: string) =>
    ["completed", "failed", "skipped", "cancelled"].includes(status) ? "now()" : "NULL";

  async function makeJob(status: string): Promise<string> {
    const id = `${status}-${Math.random().toString(36).slice(2)}`;
    await database.db.query(
      `INSERT INTO dagapp.dag_jobs (job_id, workflow_id, workflow_hash, workflow_version, status,
         nodes_total, nodes_unsettled, started_at, completed_at, error_message, cancel_requested_at)
       VALUES ($1, 'w', $2, '1', $3, 0, 0, now(), ${finished(status)}, 'why', now())`,
      [id, hash, status],
    );
    return id;
  }

  async function makeNode(status: string): Promise<string> {
    const id = `${status}-${Math.random().toString(36).slice(2)}`;
    await database.db.query(
      `INSERT INTO dagapp.dag_node_states
         (job_id, node_id, node_type, status, task_id, error, completed_at)
       VALUES ('j', $1, 'task', $2, 't', '{}', ${finished(status)})`,
      [id, status],
    );
    return id;
  }

  /** Answers the error of a refused change, undefined for an allowed one. */
  async function refusal(text: string, values: readonly unknown[]): Promise<string | undefined> {
    try {
      await database.db.query(text, values);
      return undefined;
    } catch (error) {
      return (error as { constraint?: string }).constraint ?? String(error);
    }
  }

  it("lets a job go from each state to itself and to exactly the states of the table", async () => {
    for (const from of jobStatus.options) {
      for (const to of jobStatus.options) {
        const refused = await refusal(
          `UPDATE dagapp.dag_jobs SET status = $2, completed_at = ${finished(to)}
           WHERE job_id = $1`,
          [await makeJob(from), to],
        );
        const legal = from === to || mayBecome(jobMachine, from, to);
        const expected = legal ? undefined : "job_transition";
        expect(refused, `${from} → ${to}`).toBe(expected);
      }
    }
  });

  it("lets a node go from each state to itself and to exactly the states of the table", async () => {
    for (const from of nodeStatus.options) {
      for (const to of nodeStatus.options) {
        const refused = await refusal(
          `UPDATE dagapp.dag_node_states SET status = $2, completed_at = ${finished(to)}
           WHERE node_id = $1`,
          [await makeNode(from), to],
        );
        const legal = from === to || mayBecome(nodeMachine, from, to);
        const expected = legal ? undefined : "node_transition";
        expect(refused, `${from} → ${to}`).toBe(expected);
      }
    }
  });

  it.each([
    ["job_status", jobStatus.options],
    ["node_status", nodeStatus.options],
    ["node_type", nodeType.options],
    ["event_status", eventStatus.options],
  ])("has the values of %s that the code has", async (type, options) => {
    const { rows } = await database.db.query<{ values: string[] }>(
      `SELECT enum_range(NULL::dagapp.${type})::text[] AS values`,
    );
    expect(rows[0]?.values).toEqual(options);
  });

  it.each([
    ["a finished job without a time", "finished_has_a_time", "status = 'completed'"],
    ["a job that runs and never started", "started_has_a_time", "started_at = NULL"],
    [
      "a failed job without a reason",
      "failed_has_a_reason",
      "status = 'failed', completed_at = now(), error_message = NULL",
    ],
    [
      "a cancelled job without a request to cancel",
      "cancelled_was_requested",
      "status = 'cancelled', completed_at = now(), cancel_requested_at = NULL",
    ],
    [
      "a completed job with open nodes",
      "completed_is_settled",
      "status = 'completed', completed_at = now(), nodes_total = 2, nodes_unsettled = 1",
    ],
    ["more open nodes than there are", "unsettled_of_total", "nodes_unsettled = 1"],
    ["less than no open nodes", "not_negative", "nodes_unsettled = -1"],
    ["less than no nodes", "unsettled_of_total", "nodes_total = -1"],
    ["a job without a name", "job_key_length", "job_id = ''"],
    ["a name of 65 characters", "job_key_length", "job_id = repeat('a', 65)"],
    ["a priority below 0", "priority_range", "priority = -1"],
    ["a priority above 10", "priority_range", "priority = 11"],
  ])("refuses %s", async (_, constraint, change) => {
    const id = await makeJob("running");
    const text = `UPDATE dagapp.dag_jobs SET ${change} WHERE job_id = $1`;
    expect(await refusal(text, [id])).toBe(constraint);
  });

  it.each([
    ["a settled node without a time", "settled_has_a_time", "status = 'completed'"],
    ["a dispatched node without a task", "dispatched_has_a_task", "task_id = NULL"],
    [
      "a failed node without an error",
      "failed_has_an_error",
      "status = 'failed', completed_at = now(), error = NULL",
    ],
    ["a retry time outside of ready", "retry_waits_in_ready", "retry_at = now()"],
    ["a child without an index", "child_has_an_index", "parent_node_id = 'p'"],
    ["counters on what is no fan-out", "only_a_fan_out_has_children", "fan_out = '{}'"],
    ["an output that is no object", "is_an_object", "output = '[]'"],
    [
      "a skipped node with an output",
      "skipped_has_no_output",
      "status = 'skipped', completed_at = now(), output = '{}'",
    ],
    ["an attempt below 0", "not_negative", "attempt = -1"],
    ["retries below 0", "not_negative", "retry_count = -1"],
    ["throttles below 0", "not_negative", "throttle_count = -1"],
    ["a limit of retries below 0", "not_negative", "max_retries = -1"],
  ])("refuses %s", async (_, constraint, change) => {
    const id = await makeNode("dispatched");
    const text = `UPDATE dagapp.dag_node_states SET ${change} WHERE node_id = $1`;
    expect(await refusal(text, [id])).toBe(constraint);
  });
});

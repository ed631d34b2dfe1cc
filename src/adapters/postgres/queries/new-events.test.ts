import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { readEvents } from "./history.ts";
import { readNewEvents } from "./new-events.ts";

describe("the new events of a job", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.db.query(
      `INSERT INTO dagapp.dag_job_events
         (job_id, seq, event_type, event_status, node_id, task_id, event_data, checkpoint_name,
          children, earlier)
       VALUES
         ('j', 4, 'node_dispatched', 'info', 'a', 'j_a_0', '{"attempt": 0}', NULL, NULL,
          '[["job_created", "info", null, null, {}], ["job_started", "info"],
            ["node_completed", "success", "@start"]]'),
         ('j', 5, 'node_completed', 'success', 'a', 'j_a_0', NULL, 'half', NULL, NULL),
         ('j', 9, 'node_completed', 'success', 'split', NULL, NULL, NULL, '{3,0,11,2}', NULL),
         ('j', 11, 'job_completed', 'success', NULL, NULL, '{}', 'named', NULL,
          '[["node_failed", "error", "b", "j_b_1", {"code": "E"}]]'),
         ('other', 1, 'job_created', 'info', NULL, NULL, NULL, NULL, NULL, NULL)`,
    );
  });
  afterAll(() => database.drop());

  it("are the same as the view reads, for every start and length of a page", async () => {
    for (let after = 0; after <= 12; after++) {
      for (const limit of [1, 2, 3, 5, 100]) {
        const { events } = await readEvents(database.db, "j", { after }, limit);
        expect(await readNewEvents(database.db, "j", after, limit)).toEqual(events);
      }
    }
  });

  it("are none for a job without events", async () => {
    expect(await readNewEvents(database.db, "none", 0, 10)).toEqual([]);
  });
});

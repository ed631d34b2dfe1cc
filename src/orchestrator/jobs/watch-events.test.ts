import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { insertEvents } from "../../adapters/postgres/repositories/events.ts";
import { writeHeartbeat } from "../../adapters/postgres/repositories/ownership.ts";
import type { SharedListener } from "../../adapters/postgres/share-listener.ts";
import { shareListener } from "../../adapters/postgres/share-listener.ts";
import { createLogger } from "../../adapters/runtime/logger.ts";
import type { EventWatch } from "./watch-events.ts";
import { createEventWatch } from "./watch-events.ts";

let database: TestDatabase;
let listener: SharedListener;
let watch: EventWatch;
let seq = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  listener = shareListener(database.url);
  const log = createLogger({ name: "test", level: "silent", format: "json" });
  await writeHeartbeat(database.db, { owner_id: "o", host: "h", pid: 1, version: "1" });
  watch = createEventWatch(database.db, "o", listener.listen, log);
});
afterAll(async () => {
  await watch.stop();
  await listener.close();
  await database.drop();
});

/** Writes an event as a tick does, and answers whether a notification followed. */
async function notified(): Promise<boolean> {
  const received: string[] = [];
  const isListening = new Promise<void>((resolve) => {
    const subscription = listener.listen(["dag_events", "after"], (wake) => {
      if (wake.kind === "missed") resolve();
      else received.push(wake.channel);
      if (received.includes("after")) void subscription.close();
    });
  });
  await isListening;
  await database.db.transaction(async (tx) => {
    const event_status = "info" as const;
    const node = { node_id: null, task_id: null, event_data: null };
    insertEvents(tx, [
      { job_id: "j", seq: ++seq, event_type: "job_started", event_status, ...node },
    ]);
  });
  // Notifications come in the order of their commits.
  await database.db.query(`SELECT pg_notify('after', '')`);
  await waitFor(() => received.includes("after"), { what: "the later notification" });
  return received.includes("dag_events");
}

it("has events notified while there is a watcher, and not before or after", async () => {
  expect(await notified()).toBe(false);
  let wakes = 0;
  const [one, two] = [watch.listen(() => (wakes += 1)), watch.listen(() => undefined)];
  await waitFor(() => wakes > 0, { what: "the first wake, when all writers notify" });
  expect(await notified()).toBe(true);
  await one.close();
  expect(await notified()).toBe(true);
  await two.close();
  await waitFor(async () => !(await notified()), { what: "silence" });
});

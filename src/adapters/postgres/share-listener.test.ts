import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { TestDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait.ts";
import type { Wake } from "./listen.ts";
import { shareListener } from "./share-listener.ts";
import type { SharedListener } from "./share-listener.ts";

let test: TestDatabase;
let shared: SharedListener;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  shared = shareListener(test.url, { applicationName: "shared listener" });
});
afterEach(() => shared.close());

function hearer() {
  const heard: string[] = [];
  const onWake = (wake: Wake) =>
    heard.push(wake.kind === "missed" ? "missed" : `${wake.channel}:${wake.payload}`);
  const hearing = (...expected: string[]) =>
    waitFor(() => heard.join() === expected.join(), { what: `to receive ${expected.join()}` });
  return { heard, onWake, hearing };
}

it("wakes each part for its own channels, over one connection", async () => {
  const [jobs, events] = [hearer(), hearer()];
  shared.listen(["jobs"], jobs.onWake);
  shared.listen(["events", "jobs"], events.onWake);
  await jobs.hearing("missed");
  await test.db.query(`SELECT pg_notify('events', 'a'), pg_notify('jobs', 'b')`);
  await events.hearing("missed", "events:a", "jobs:b");
  await jobs.hearing("missed", "jobs:b");
  const { rows } = await test.db.query(
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'shared listener'",
  );
  expect(rows).toHaveLength(1);
});

it("calls a part that subscribes later with `missed` first", async () => {
  const [early, late] = [hearer(), hearer()];
  shared.listen(["jobs"], early.onWake);
  await early.hearing("missed");
  shared.listen(["jobs"], late.onWake);
  await late.hearing("missed");
  expect(early.heard).toEqual(["missed"]);
});

it("does not wake a part that closed", async () => {
  const [gone, stays] = [hearer(), hearer()];
  const part = shared.listen(["jobs"], gone.onWake);
  shared.listen(["jobs"], stays.onWake);
  await stays.hearing("missed");
  await part.close();
  await test.db.query("NOTIFY jobs");
  await stays.hearing("missed", "jobs:");
  expect(gone.heard).toEqual(["missed"]);
});

it("asks the server only for channels that some part still listens to", async () => {
  const [one, two] = [hearer(), hearer()];
  const first = shared.listen(["jobs", "events"], one.onWake);
  shared.listen(["jobs"], two.onWake);
  await two.hearing("missed");
  await first.close();
  await test.db.query("NOTIFY jobs, 'still'");
  await two.hearing("missed", "jobs:still");
  const sessions = await test.db.query<{ query: string }>(
    "SELECT query FROM pg_stat_activity WHERE application_name = 'shared listener'",
  );
  expect(sessions.rows).toEqual([{ query: 'UNLISTEN "events"' }]);
});

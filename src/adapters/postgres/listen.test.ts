import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { TestDatabase } from "../../../test/support/database.ts";
import { startProxy } from "../../../test/support/proxy.ts";
import type { Proxy } from "../../../test/support/proxy.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { listen } from "./listen.ts";
import type { Listener, ListenOptions } from "./listen.ts";

let test: TestDatabase;
let proxy: Proxy;
let listener: Listener | undefined;
let wakes: string[];
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  proxy = await startProxy(test.url);
  wakes = [];
});
afterEach(async () => {
  await listener?.close();
  await proxy.close();
});

const quick = { probeEveryMs: 50, probeTimeoutMs: 200, firstPauseMs: 5, longestPauseMs: 20 };

function start(options: ListenOptions = quick): void {
  listener = listen(
    proxy.url,
    ["jobs", "Odd name"],
    (wake) => wakes.push(wake.kind === "missed" ? "missed" : `${wake.channel}:${wake.payload}`),
    options,
  );
}

const hearing = (expected: string[]) =>
  waitFor(() => wakes.join() === expected.join(), { what: `the wakes ${expected.join()}` });

it("wakes for its channels, and for no others", async () => {
  start();
  await hearing(["missed"]);
  await test.db.query(`SELECT pg_notify('other', 'x'), pg_notify('jobs', '1')`);
  await test.db.query(`NOTIFY "Odd name"`);
  await hearing(["missed", "jobs:1", "Odd name:"]);
});

it("connects again after the connection is cut, and wakes with `missed`", async () => {
  start();
  await hearing(["missed"]);
  proxy.cut();
  await hearing(["missed", "missed"]);
  await test.db.query("NOTIFY jobs, 'after'");
  await hearing(["missed", "missed", "jobs:after"]);
});

it("notices a connection that stays open and answers nothing", async () => {
  start();
  await hearing(["missed"]);
  proxy.goSilent();
  await hearing(["missed", "missed"]);
  await test.db.query("NOTIFY jobs, 'after'");
  await hearing(["missed", "missed", "jobs:after"]);
});

it("keeps one connection as long as the probes are answered", async () => {
  start({ ...quick, probeEveryMs: 5 });
  await hearing(["missed"]);
  const session = "FROM pg_stat_activity WHERE application_name = 'rmhdag listen'";
  const probed = new Set<string>();
  await waitFor(
    async () => {
      const { rows } = await test.db.query<{ at: string }>(
        `SELECT query_start::text AS at ${session}`,
      );
      rows.forEach(({ at }) => probed.add(at));
      return probed.size > 5;
    },
    { what: "six probes" },
  );
  expect(proxy.connections).toBe(1);
});

it("retries while the database is away, with longer pauses, and reports the errors", async () => {
  const errors: Error[] = [];
  await proxy.close();
  listener = listen(proxy.url, ["jobs"], () => wakes.push("missed"), {
    ...quick,
    onError: (error) => errors.push(error),
  });
  await waitFor(() => errors.length > 2, { what: "three failed attempts" });
  expect(errors[0]).toMatchObject({ code: "ECONNREFUSED" });
  expect(wakes).toEqual([]);
  proxy = await startProxy(test.url);
});

it("closes at once, also while it waits", async () => {
  start({ ...quick, probeEveryMs: 600_000 });
  await hearing(["missed"]);
  await listener!.close();
  await waitFor(
    async () => {
      const { rows } = await test.db.query(
        "SELECT FROM pg_stat_activity WHERE application_name = 'rmhdag listen'",
      );
      return rows.length === 0;
    },
    { what: "the session to be gone" },
  );
});

import { readFile } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { rows, startOwner, temporaryFolders } from "../../../test/support/embedded.ts";
import type { OwnerProcess } from "../../../test/support/embedded.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { layoutOf } from "./layout.ts";
import { findRunningServer } from "./running-server.ts";
import { startEmbeddedPostgres } from "./start-embedded-postgres.ts";

const folders = temporaryFolders();
const owners: Pick<OwnerProcess, "stop">[] = [];
afterEach(async () => {
  for (const owner of owners.splice(0)) await owner.stop();
  await folders.remove();
});

async function own(folder: string): Promise<OwnerProcess> {
  const owner = await startOwner(folder);
  owners.push(owner);
  return owner;
}

const running = (folder: string) => findRunningServer(layoutOf(folder));

function serverToEnd(folder: string): Promise<boolean> {
  return waitFor(async () => (await running(folder)) === undefined, {
    what: "the server to end",
    timeoutMs: 20_000,
  });
}

/** Each look of the watchdog is a transaction of its own. */
async function watchdogToLook(url: string, times: number): Promise<void> {
  const seen = new Set<string>();
  await waitFor(
    async () => {
      const [session] = await rows(
        url,
        `SELECT xact_start::text AS look FROM pg_stat_activity
         WHERE application_name = 'rmhdag watchdog' AND state = 'active'`,
      );
      seen.add(String(session?.["look"]));
      return seen.size > times;
    },
    { what: `the watchdog to look ${times} times` },
  );
}

it("loses no commit when its owner is killed, and starts again", async () => {
  const folder = await folders.make();
  const first = await own(folder);
  await rows(first.url, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n");
  await first.kill();

  // At once: the server of the dead owner may still be there, or be stopping.
  const second = await own(folder);
  expect(await rows(second.url, "SELECT count(*)::int AS n FROM kept")).toEqual([{ n: 1000 }]);
});

it("ends by itself, cleanly, after its owner was killed", async () => {
  const folder = await folders.make();
  const first = await own(folder);
  await first.kill();
  await serverToEnd(folder);

  const second = await own(folder);
  expect(second.attached).toBe(false);
  const log = await readFile(layoutOf(folder).log, "utf8");
  expect(log).toContain("database system is shut down");
  expect(log).not.toContain("not properly shut down");
});

it("ends by itself when its owner leaves without stopping it", async () => {
  const folder = await folders.make();
  const owner = await own(folder);
  await owner.leave();
  await serverToEnd(folder);
});

it("is shared by two owners and stops with the last of them", async () => {
  const folder = await folders.make();
  const first = await own(folder);
  const second = await own(folder);
  expect([first.attached, second.attached]).toEqual([false, true]);
  expect(second.port).toBe(first.port);

  await first.stop();
  expect(await rows(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await second.stop();
  expect(await running(folder)).toBeUndefined();
});

it("outlives the owner that started it, killed, while another owner lives", async () => {
  const folder = await folders.make();
  const first = await own(folder);
  const second = await own(folder);
  await first.kill();
  await watchdogToLook(second.url, 2);
  expect(await rows(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await second.kill();
  await serverToEnd(folder);
});

it("is made once when several processes start it for the first time together", async () => {
  const folder = await folders.make();
  const all = await Promise.all([own(folder), own(folder), own(folder), own(folder)]);
  expect(new Set(all.map(({ url }) => url)).size).toBe(1);
  expect(all.filter(({ attached }) => !attached)).toHaveLength(1);
});

it("can be started while its last owner is stopping it", async () => {
  const folder = await folders.make();
  let current = await own(folder);
  for (let round = 0; round < 3; round++) {
    const [next] = await Promise.all([own(folder), current.stop()]);
    expect(await rows(next.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    current = next;
  }
});

it("keeps its owners when all their sessions are ended", async () => {
  const folder = await folders.make();
  const server = await startEmbeddedPostgres({ dataDirectory: folder, prefer: "npm", sync: false });
  owners.push(server);
  const others = `FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  await rows(server.url, `SELECT pg_terminate_backend(pid) ${others}`);
  await waitFor(
    async () => {
      const names = await rows(server.url, `SELECT application_name AS name ${others} ORDER BY 1`);
      return names.map(({ name }) => name).join() === "rmhdag owner,rmhdag watchdog";
    },
    { what: "owner and watchdog to come back" },
  );
});

/** A data folder of an earlier `rmhdag up`, whose programs were all superusers, goes on as plain users. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";
import { rows } from "../support/embedded.ts";
import { fixture } from "../support/fixtures.ts";
import { endProcesses, startSite, temporaryFolder } from "../support/processes.ts";

afterAll(endProcesses, 90_000);

it("is upgraded without loss, and finishes the work that was going on", async () => {
  const dataFolder = await temporaryFolder();
  const dataDirectory = path.join(dataFolder, "postgres");
  const before = await startEmbeddedPostgres({ dataDirectory, prefer: "npm", sync: false });
  await rows(before.url, await readFile(fixture("upgrade/0006.sql"), "utf8"));
  const [job] = await rows(
    before.url,
    "SELECT job_id FROM dagapp.dag_jobs WHERE idempotency_key = 'half done'",
  );
  const counted = `SELECT (SELECT count(*)::integer FROM dagapp.dag_job_events) AS events,
    (SELECT count(*)::integer FROM dagapp.asset_versions) AS versions,
    (SELECT count(*)::integer FROM pg_tables WHERE schemaname = 'geo') AS layers`;
  const [was] = await rows(before.url, counted);
  expect(was).toMatchObject({ layers: expect.any(Number) as number });
  await before.stop();

  const env = { RMHDAG_POSTGRES: "npm", LEASE_SEC: "2" };
  const site = await startSite({ dataFolder, env });
  const watched = await site.cli("jobs", "watch", String(job!["job_id"]));
  expect([watched.status, watched.stdout]).toEqual([0, expect.stringMatching(/completed in/)]);
  const doctor = await site.cli("doctor");
  expect([doctor.status, doctor.stdout]).toEqual([0, expect.stringContaining("0 problems")]);

  const after = await startEmbeddedPostgres({ dataDirectory, prefer: "npm" });
  const [is] = await rows(after.url, counted);
  expect(is).toMatchObject({ versions: was!["versions"], layers: was!["layers"] });
  const owners = await rows(
    after.url,
    `SELECT DISTINCT nspname AS schema, pg_get_userbyid(relowner) AS owner
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname IN ('dagapp', 'gateway', 'geo') ORDER BY 1, 2`,
  );
  await after.stop();
  expect(owners).toEqual([
    { schema: "dagapp", owner: "rmhdag_orchestrator" },
    { schema: "dagapp", owner: "rmhdag_owner" },
    { schema: "gateway", owner: "rmhdag_owner" },
    ...(Number(was!["layers"]) > 0 ? [{ schema: "geo", owner: "rmhdag_worker" }] : []),
  ]);
}, 180_000);

/** `rmhdag doctor` on deployments with real faults, and whether its remedies cure them. */
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { makeLogins } from "../../src/adapters/postgres/roles/make-login.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest } from "../support/api.ts";
import { run } from "../support/processes.ts";

let test: ApiTest;
const login = `rmhdag_doctor_${process.pid}`;

beforeAll(async () => {
  test = await openApiTest();
  await makeLogins(test.database.url, [{ role: "rmhdag_gateway", user: login, password: "x" }]);
});
afterAll(async () => {
  await test.database.db.query(`DROP OWNED BY ${login}; DROP ROLE ${login}`);
  await test.close();
});

async function check(name: string) {
  const { checks } = await test.operator.runDoctor();
  return checks.find((each) => each.name === name);
}

it("names a program that is connected as a superuser", async () => {
  expect(await check("database users")).toMatchObject({ status: "ok" });
  await test.database.db.query(
    `INSERT INTO dagapp.dag_orchestrators (owner_id, host, pid, version)
     VALUES ('rmhdag test', 'here', 1, '1.2.3')`,
  );
  expect(await check("database users")).toMatchObject({
    status: "problem",
    found: expect.stringMatching(/orchestrator as \w+ \(a superuser\)/) as string,
  });
});

it("finds rights that were taken or given by hand, and migrate restores them", async () => {
  expect(await check("database rights")).toMatchObject({ status: "ok" });
  await test.database.db.query("GRANT SELECT ON dagapp.api_keys TO rmhdag_worker");
  await test.database.db.query("REVOKE INSERT ON dagapp.dag_jobs FROM rmhdag_orchestrator");
  const found = await check("database rights");
  expect(found).toMatchObject({ status: "problem" });
  expect(found?.found).toContain("rmhdag_worker has SELECT on dagapp.api_keys");
  expect(found?.found).toContain("rmhdag_orchestrator lacks INSERT on dagapp.dag_jobs");
  await migrate(test.database.url);
  expect(await check("database rights")).toMatchObject({ status: "ok" });
});

it("finds a gateway's login without limits, and its remedies work", async () => {
  const { db } = test.database;
  const name = `gateway's login ${login}`;
  const reset =
    "SELECT format('ALTER ROLE %I IN DATABASE %I RESET ALL', $1::text, current_database())";
  const { rows } = await db.query<{ format: string }>(reset, [login]);
  await db.query(rows[0]!.format);
  await db.query(`ALTER ROLE ${login} CONNECTION LIMIT -1`);
  const found = await check(name);
  expect(found).toMatchObject({ status: "problem" });
  expect(found?.found).toMatch(/^no connection limit, no statement timeout/);
  for (const remedy of (found?.remedy ?? "").split("; ")) {
    if (remedy.startsWith("ALTER")) await db.query(remedy);
  }
  // The server of the tests has other databases, which stay open to everybody.
  expect((await check(name))?.found ?? "").toMatch(/^may connect to |^40 connections/);
});

it("finds a zone of storage that cannot be written, and leaves nothing in the others", async () => {
  expect(await check("storage zone gold")).toMatchObject({ status: "ok" });
  expect((await test.storage.list("gold/")).items).toEqual([]);
  const zone = path.join(test.engine.folder, "gold");
  await rm(zone, { recursive: true, force: true });
  await writeFile(zone, "no folder");
  expect(await check("storage zone gold")).toMatchObject({ status: "problem" });
  await rm(zone);
});

it("is for operators, and says when no orchestrator answers", async () => {
  await expect(test.reader.runDoctor()).rejects.toMatchObject({ code: "FORBIDDEN" });
  const { status, stdout } = await run(["doctor", "--url", "http://127.0.0.1:9", "--json"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: "orchestrator", status: "problem" }),
    ]) as unknown,
  });
});

import { afterEach, expect, it } from "vitest";
import type { HealthServer } from "./serve-health.ts";
import { serveHealth } from "./serve-health.ts";

let server: HealthServer;
afterEach(() => server.close());

async function start(check: () => Promise<unknown>) {
  server = await serveHealth(
    {
      worker_id: "heavy-1",
      version: "1.2.3",
      queues: ["container-tasks"],
      slots: 4,
      busy: () => 3,
      check,
      token: "secret",
      metrics: () => Promise.resolve('{"rmhdag_leases_lost_total":0}'),
    },
    { host: "127.0.0.1", port: 0 },
  );
  return async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers, method });
    return [answer.status, await answer.json()] as const;
  };
}

it("answers while the process runs, and says whether it can work", async () => {
  let isWell = true;
  const get = await start(() => (isWell ? Promise.resolve() : Promise.reject(new Error("gone"))));
  expect(await get("/livez")).toEqual([200, { status: "ok" }]);
  const details = { worker_id: "heavy-1", queues: ["container-tasks"], slots: 4, busy: 3 };
  expect(await get("/health")).toEqual([200, { status: "ok", version: "1.2.3", ...details }]);
  isWell = false;
  expect(await get("/livez")).toEqual([200, { status: "ok" }]);
  expect(await get("/readyz")).toMatchObject([503, { status: "down" }]);
  expect(await get("/health")).toMatchObject([503, { status: "down" }]);
});

it("shows names only to callers of this machine, or with the service token", async () => {
  const get = await start(() => Promise.resolve());
  const forwarded = { "x-forwarded-for": "198.51.100.7" };
  const plain = [200, { status: "ok", version: "1.2.3" }];
  expect(await get("/health", forwarded)).toEqual(plain);
  expect(await get("/health", { ...forwarded, authorization: "Bearer wrong" })).toEqual(plain);
  const known = { ...forwarded, authorization: "Bearer secret" };
  expect(await get("/health", known)).toMatchObject([200, { worker_id: "heavy-1" }]);
  expect(await get("/metrics", forwarded)).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
  expect(await get("/metrics", known)).toEqual([200, { rmhdag_leases_lost_total: 0 }]);
  expect(await get("/other")).toMatchObject([404, { code: "NOT_FOUND" }]);
  expect(await get("/livez", {}, "POST")).toMatchObject([405, { code: "METHOD_NOT_ALLOWED" }]);
});

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashToken } from "../../src/adapters/http/tokens.ts";
import { makeWorkflowFolder } from "../support/domain.ts";
import { makeGatewayUser } from "../support/database-user.ts";
import { GatewayTest, startTestGateway, stopGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

let test: GatewayTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
let key: string;
const operator = GatewayTest.operatorToken;

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await GatewayTest.open({
    workflows: folder.folder,
    env: { GATEWAY_BODY_LIMIT_BYTES: "20000", GATEWAY_KEY_CACHE_SEC: "0.2" },
  });
  await test.api.storage.put("bronze/ddh/birds.tif", new Uint8Array([1, 2, 3]));
  key = await test.key("ddh", "admin");
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

let counter = 0;
const newSubmission = (more: object = {}) => ({
  workflow_id: "etl_test",
  platform_refs: { dataset_id: `dataset-${++counter}`, resource_id: "viewer" },
  version_label: "V1",
  inputs: { blob_path: "ddh/birds.tif" },
  ...more,
});

interface AcceptedBody {
  readonly request_id: string;
  readonly asset_id: string;
  readonly status_url: string;
}

async function submit(body: unknown = newSubmission(), headers: Record<string, string> = {}) {
  const answer = await test.call("POST", "/api/platform/submit", { key, body, headers });
  expect([200, 202], answer.text).toContain(answer.status);
  return answer.json<AcceptedBody>();
}

const status = async (requestId: string) =>
  (await test.call("GET", `/api/platform/status/${requestId}`, { key })).json();

/** Completes the queued tasks of a request, as a worker would. */
async function work(requestId: string, output = { blob_path: "silver/birds.tif" }): Promise<void> {
  const { items } = (
    await test.call("GET", `/api/status/lookup?correlation_id=${requestId}`, { key: operator })
  ).json<{ items: { job_id: string }[] }>();
  for (const { job_id } of items) {
    for (const task of await test.api.engine.take(job_id)) {
      await test.api.engine.complete(task, output);
    }
  }
  await test.api.engine.tick();
}

const countRequests = async () => {
  const { rows } = await test.api.database.db.query<{ count: number }>(
    "SELECT count(*) FROM dagapp.requests",
  );
  return rows[0]!.count;
};

describe("a submission", () => {
  it("is answered with its request's id, and polled by it until it is done", async () => {
    const answer = await test.call("POST", "/api/platform/submit", { key, body: newSubmission() });
    expect(answer.status).toBe(202);
    const accepted = answer.json<AcceptedBody>();
    expect(accepted).toMatchObject({ status: "accepted", version_ordinal: 0, version_label: "V1" });
    expect(answer.headers.get("location")).toBe(accepted.status_url);
    expect(await status(accepted.request_id)).toMatchObject({ status: "running", result: null });
    await work(accepted.request_id);
    const { text } = await test.call("GET", accepted.status_url, { key });
    expect(JSON.parse(text)).toMatchObject({
      status: "completed",
      percent: 100,
      result: { blob_path: "silver/birds.tif" },
    });
  });

  it("answers with everything that is wrong, and creates nothing", async () => {
    const before = await countRequests();
    const body = newSubmission({ inputs: { blob_path: "ddh/none.tif", mode: "middling" } });
    const answer = await test.call("POST", "/api/platform/submit", { key, body });
    expect(answer.status).toBe(400);
    const { code, errors } = answer.json<{ code: string; errors: { pointer: string }[] }>();
    expect(code).toBe("INVALID_SUBMISSION");
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual([
      "/inputs/blob_path",
      "/inputs/mode",
    ]);
    expect(await countRequests()).toBe(before);
  });

  it("happens once for each idempotency key, in the body or the header", async () => {
    const body = newSubmission();
    const first = await submit(body, { "idempotency-key": "once" });
    const again = await submit({ ...body, idempotency_key: "once" });
    expect(again.request_id).toBe(first.request_id);
    const both = { ...body, idempotency_key: "other" };
    const headers = { "idempotency-key": "once" };
    const answer = await test.call("POST", "/api/platform/submit", { key, body: both, headers });
    expect(answer.json()).toMatchObject({ status: 400 });
    const changed = await test.call("POST", "/api/platform/submit", {
      key,
      headers,
      body: { ...body, version_label: "V2" },
    });
    expect(changed.json()).toMatchObject({ status: 409, code: "IDEMPOTENCY_CONFLICT" });
  });

  it("can be taken back", async () => {
    const { request_id } = await submit();
    const path = `/api/platform/requests/${request_id}/cancel`;
    const body = { reason: "wrong file" };
    expect((await test.call("POST", path, { key, body })).status).toBe(200);
    await test.api.engine.tick();
    expect(await status(request_id)).toMatchObject({ status: "cancelled" });
    const again = await test.call("POST", path, { key, body: {} });
    expect([200, 409]).toContain(again.status);
  });
});

describe("a batch", () => {
  it("has an outcome for each item, in the order given", async () => {
    const before = await countRequests();
    const items = [newSubmission(), { workflow_id: 7 }, newSubmission({ workflow_id: "none" })];
    const answer = await test.call("POST", "/api/gateway/submit/batch", { key, body: { items } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json()).toMatchObject({
      accepted: 1,
      refused: 2,
      items: [
        { index: 0, outcome: "accepted", request: { status: "accepted" } },
        { index: 1, outcome: "refused", problem: { status: 400, code: "BAD_REQUEST" } },
        { index: 2, outcome: "refused", problem: { code: "INVALID_SUBMISSION" } },
      ],
    });
    expect(await countRequests()).toBe(before + 1);
  });

  it("takes a hundred, and not one more", async () => {
    const send = (length: number) =>
      test.call("POST", "/api/gateway/submit/batch", {
        key,
        body: { items: Array.from({ length }, () => ({})) },
      });
    expect((await send(100)).json()).toMatchObject({ refused: 100 });
    expect((await send(101)).status).toBe(400);
    expect((await send(0)).status).toBe(400);
  });
});

describe("an asset", () => {
  it("is reviewed by its own partner, and the audit trail says by whom", async () => {
    const { asset_id, request_id } = await submit();
    await work(request_id);
    const path = `/api/assets/${asset_id}`;
    const shown = await test.call("GET", path, { key });
    const etag = shown.headers.get("etag")!;
    expect(shown.json()).toMatchObject({
      clearance_state: "uncleared",
      versions: [{ approval_state: "pending_review", processing_state: "completed" }],
    });
    const stale = await test.call("POST", `${path}/versions/0/approve`, {
      key,
      body: { clearance: "ouo" },
      headers: { "if-match": '"1"' },
    });
    expect(stale.json()).toMatchObject({ status: 409, code: "EDIT_CONFLICT" });
    const approved = await test.call("POST", `${path}/versions/0/approve`, {
      key,
      body: { clearance: "ouo", actor: "alice" },
      headers: { "if-match": etag },
    });
    expect(approved.json()).toMatchObject({
      clearance_state: "ouo",
      latest_approved_version_ordinal: 0,
      versions: [{ approval_state: "approved" }],
    });
    const { items } = (await test.call("GET", `${path}/events`, { key })).json<{
      items: { event_type: string; actor: string }[];
    }>();
    const event = items.find(({ event_type }) => event_type === "version_approved");
    expect(event?.actor).toMatch(/^ddh\/[0-9a-f]{12}:alice$/);
    const services = await test.call("GET", `${path}/services`, { key });
    expect(services.json()).toMatchObject({
      services: [{ version: "latest", tiles: expect.stringContaining(asset_id) as string }],
    });
  });

  it("is found by its references", async () => {
    const body = newSubmission();
    const { asset_id } = await submit(body);
    const refs = encodeURIComponent(JSON.stringify(body.platform_refs));
    const found = await test.call("GET", `/api/assets?refs=${refs}`, { key });
    expect(found.json()).toMatchObject({ items: [{ asset_id }], next_cursor: null });
    expect((await test.call("GET", "/api/assets?refs=[1", { key })).status).toBe(400);
  });

  it("is listed page by page, each once", async () => {
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = (await test.call("GET", `/api/assets?limit=3${more}`, { key })).json<{
        items: { asset_id: string }[];
        next_cursor: string | null;
      }>();
      seen.push(...page.items.map(({ asset_id }) => asset_id));
      cursor = page.next_cursor;
    }
    expect(seen.length).toBeGreaterThan(5);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe("a key", () => {
  it("is made, replaced and ended by its own partner", async () => {
    const make = { key, body: { name: "second", scopes: ["read"] } };
    const made = (await test.call("POST", "/api/platform/keys", make)).json<{
      key: string;
      key_id: string;
    }>();
    const use = (with_: string) => test.call("GET", "/api/platform", { key: with_ });
    expect((await use(made.key)).json()).toMatchObject({ platform_id: "ddh" });
    const one = `/api/platform/keys/${made.key_id}`;
    const next = (await test.call("POST", `${one}/rotate`, { key, body: {} })).json<{
      key: string;
    }>();
    expect((await use(made.key)).status).toBe(200);
    expect((await use(next.key)).status).toBe(200);
    await test.call("POST", `${one}/revoke`, { key });
    await waitFor(async () => (await use(made.key)).status === 401, { what: "the end of a key" });
    expect((await use(next.key)).status).toBe(200);
  });

  it("of a platform that is switched off opens nothing", async () => {
    const geonode = await test.key("geonode", "read");
    const use = () => test.call("GET", "/api/platform", { key: geonode });
    expect((await use()).status).toBe(200);
    await test.api.database.db.query(
      "UPDATE dagapp.platforms SET is_active = false WHERE platform_id = 'geonode'",
    );
    await waitFor(async () => (await use()).status === 401, { what: "the end of a platform" });
  });
});

describe("OGC API – Processes", () => {
  const get = (path: string) => test.call("GET", `/api/ogc${path}`, { key });

  it("shows workflows as processes", async () => {
    const landing = (await get("")).json<{ links: { rel: string; href: string }[] }>();
    for (const { href } of landing.links) {
      expect((await test.call("GET", href, { key })).status, href).toBe(200);
    }
    expect((await get("/processes/etl_test")).json()).toMatchObject({
      id: "etl_test",
      inputs: { blob_path: { minOccurs: 1 }, platform_refs: { minOccurs: 1 } },
    });
    // Processes that maintain the data of all partners are listed for operators only.
    const offered = (await get("/processes?limit=100")).text;
    expect(offered).toContain("raster_ingest");
    expect(offered).not.toMatch(/adf_withdraw|rebuild_stac|stac_catalog_container/);
    expect((await get("/processes/adf_withdraw")).status).toBe(404);
    const all = await test.call("GET", "/api/admin/workflows", { key: operator });
    expect(all.text).toMatch(/adf_withdraw/);
    expect((await get("/processes/none")).json()).toMatchObject({
      status: 404,
      type: expect.stringMatching(/no-such-process$/) as string,
    });
  });

  it("executes, polls and gives results as every other face does", async () => {
    const { platform_refs, version_label, inputs } = newSubmission();
    const body = { inputs: { ...inputs, platform_refs, version_label } };
    const headers = { prefer: "respond-async" };
    const path = "/api/ogc/processes/etl_test/execution";
    const executed = await test.call("POST", path, { key, body, headers });
    expect(executed.status, executed.text).toBe(201);
    expect(executed.headers.get("preference-applied")).toBe("respond-async");
    const { jobID } = executed.json<{ jobID: string }>();
    expect(executed.headers.get("location")).toBe(`/api/ogc/jobs/${jobID}`);
    expect((await get(`/jobs/${jobID}/results`)).json()).toMatchObject({
      status: 404,
      type: expect.stringMatching(/result-not-ready$/) as string,
    });
    await work(jobID);
    expect((await get(`/jobs/${jobID}`)).json()).toMatchObject({ status: "successful", jobID });
    expect((await get(`/jobs/${jobID}/results`)).json()).toMatchObject({
      blob_path: "silver/birds.tif",
    });
    expect(await status(jobID)).toMatchObject({ status: "completed" });
    expect((await get("/jobs?status=successful")).text).toContain(jobID);
  });

  it("dismisses", async () => {
    const { request_id } = await submit();
    expect((await test.call("DELETE", `/api/ogc/jobs/${request_id}`, { key })).status).toBe(200);
    await test.api.engine.tick();
    expect((await get(`/jobs/${request_id}`)).json()).toMatchObject({ status: "dismissed" });
    expect((await get("/jobs/none")).json()).toMatchObject({
      type: expect.stringMatching(/no-such-job$/) as string,
    });
  });
});

describe("operators", () => {
  const get = (path: string) => test.call("GET", path, { key: operator });

  it("see jobs, nodes, events and counts", async () => {
    const { request_id } = await submit();
    await work(request_id);
    const { items } = (await get(`/api/status/lookup?correlation_id=${request_id}`)).json<{
      items: { job_id: string; status: string }[];
    }>();
    expect(items).toMatchObject([{ status: "completed" }]);
    const { job_id } = items[0]!;
    expect((await get(`/api/status/job/${job_id}`)).json()).toMatchObject({ job_id });
    const nodes = (await get(`/api/status/job/${job_id}/nodes`)).json<{ items: object[] }>();
    expect(nodes.items).toContainEqual(expect.objectContaining({ node_id: "process" }));
    const events = (await get(`/api/status/job/${job_id}/events`)).json<{ items: object[] }>();
    expect(events.items[0]).toMatchObject({ seq: 1, event_type: "job_created" });
    const stats = (await get("/api/status/stats")).json<{ total: number; completed: number }>();
    expect(stats.completed).toBeGreaterThan(0);
    expect((await get("/api/status/jobs?limit=2")).json<{ items: object[] }>().items).toHaveLength(
      2,
    );
    for (const path of ["active-jobs", "recent-events", "workflows"]) {
      const answer = await get(`/api/admin/${path}`);
      expect(answer.json<{ items: object[] }>().items.length, path).toBeGreaterThan(0);
    }
    expect((await get("/api/status/job/none")).status).toBe(404);
    expect((await get("/api/status/lookup")).status).toBe(400);
  });

  it("see the configuration without its secrets", async () => {
    const { text } = await get("/api/admin/config");
    expect(text).toContain('"proxy_rules"');
    expect(text).not.toMatch(/postgres:|token-of-the-gateway|password|sha256/);
    expect((await get("/api/admin/health")).json()).toMatchObject({
      status: "ok",
      checks: { database: "ok", schema: "ok", role: "ok" },
      targets: { orchestrator: "ok" },
    });
  });

  it("reach the orchestrator where a rule says so, and nowhere else", async () => {
    const through = "/api/proxy/orchestrator";
    expect((await get(`${through}/api/v1/jobs?limit=1`)).json()).toMatchObject({
      items: [{ status: expect.any(String) as string }],
    });
    const body = { message: "hello" };
    const ping = await test.call("POST", `${through}/api/v1/commands/ping`, {
      key: operator,
      body,
    });
    expect(ping.json()).toMatchObject({ result: { caller: "gateway", message: "hello" } });
    for (const path of [
      "/api/v1/bootstrap/status",
      "/api/v1/keys",
      "/api/v1/jobs/..%2fkeys",
      "/api/v1/jobs/%2e%2e/keys",
      "/api/v1/jobs//keys",
    ]) {
      const answer = await get(through + path);
      expect([path, [400, 403, 404].includes(answer.status)]).toEqual([path, true]);
    }
    expect((await get("/api/proxy/elsewhere/livez")).status).toBe(404);
    expect((await get("/api/proxy/health")).json()).toEqual({
      status: "ok",
      targets: { orchestrator: "ok" },
    });
  });
});

describe("what is not a proper request", () => {
  it.each([
    ["broken JSON", "{", 400],
    ["a NUL character", '{"workflow_id":"a\\u0000b"}', 400],
    ["half of a surrogate pair", '{"workflow_id":"\\ud800"}', 400],
    ["a prototype", '{"__proto__":{"x":1}}', 400],
    ["nesting without end", "[".repeat(9000) + "]".repeat(9000), 400],
    ["too much", JSON.stringify({ workflow_id: "x".repeat(30_000) }), 413],
    ["a list", "[]", 400],
  ])("%s is refused, and nothing is written", async (_what, body, expected) => {
    const before = await countRequests();
    const answer = await test.call("POST", "/api/platform/submit", { key, body });
    expect(answer.status).toBe(expected);
    expect(await countRequests()).toBe(before);
  });

  it("is refused in other forms than JSON, with other methods, and at other places", async () => {
    const headers = { "content-type": "text/xml" };
    const xml = await test.call("POST", "/api/platform/submit", { key, body: "<a/>", headers });
    expect(xml.status).toBe(415);
    expect((await test.call("PUT", "/api/platform/submit", { key })).status).toBe(405);
    expect((await test.call("GET", "/api/platform/status/a%20b", { key })).status).toBe(400);
    expect((await test.call("GET", "/api/nothing", { key })).status).toBe(404);
  });
});

describe("limits", () => {
  it("cut off a client that never finishes its request, with nothing written", async () => {
    const user = await makeGatewayUser(test.api.database.url);
    const gateway = await startTestGateway({
      GATEWAY_DATABASE_URL: user.url,
      GATEWAY_HEADERS_TIMEOUT_SEC: "0.2",
      GATEWAY_REQUEST_TIMEOUT_SEC: "0.4",
    });
    const before = await countRequests();
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    let got = "";
    socket.on("data", (chunk: Buffer) => (got += chunk.toString())).on("error", () => undefined);
    socket.write(
      `POST /api/platform/submit HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        'content-type: application/json\r\ncontent-length: 5000\r\n\r\n{"workflow_id":',
    );
    await once(socket, "close");
    expect(got).toMatch(/^HTTP\/1.1 408/);
    expect(await countRequests()).toBe(before);
    await stopGateway(gateway);
    await user.remove();
  });
});

describe("when a part is away", () => {
  let nowhere: string;
  beforeAll(async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    nowhere = `http://127.0.0.1:${(taken.address() as AddressInfo).port}`;
    taken.close();
    await once(taken, "close");
  });

  it("lives without its database, says which check failed, and refuses the rest for now", async () => {
    const gateway = await startTestGateway({
      GATEWAY_DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
      ORCHESTRATOR_URL: nowhere,
    });
    const get = (path: string) =>
      fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
    expect((await get("/api/livez")).status).toBe(200);
    const ready = await get("/api/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain("`database`");
    const polled = await get("/api/platform/status/x");
    expect(polled.status).toBe(503);
    expect(polled.headers.get("retry-after")).not.toBeNull();
    expect(await (await get("/api/gateway/health")).json()).toMatchObject({ status: "down" });
    await stopGateway(gateway);
  });

  it("answers polls without the orchestrator, and says that nothing was changed", async () => {
    const { request_id } = await submit();
    const user = await makeGatewayUser(test.api.database.url);
    const gateway = await startTestGateway({
      GATEWAY_DATABASE_URL: user.url,
      GATEWAY_OPERATOR_TOKENS: `operator:operate:${hashToken(operator)}`,
      ORCHESTRATOR_URL: nowhere,
    });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const polled = await fetch(`${gateway.url}/api/platform/status/${request_id}`, { headers });
    expect(polled.status).toBe(200);
    const sent = await fetch(`${gateway.url}/api/platform/submit`, {
      method: "POST",
      headers,
      body: JSON.stringify(newSubmission()),
    });
    expect(await sent.json()).toMatchObject({
      status: 503,
      detail: expect.stringContaining("Nothing was changed") as string,
    });
    expect(await (await fetch(`${gateway.url}/api/gateway/health`)).json()).toMatchObject({
      status: "degraded",
    });
    const figures = await fetch(`${gateway.url}/metrics`, {
      headers: { authorization: `Bearer ${operator}` },
    });
    expect(await figures.text()).toContain(
      'orchestrator_call_duration_seconds_count{outcome="failed"} 1',
    );
    await stopGateway(gateway);
    await user.remove();
  });

  it("answers that the outcome is unknown when the orchestrator takes too long", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const user = await makeGatewayUser(test.api.database.url);
    const gateway = await startTestGateway({
      GATEWAY_DATABASE_URL: user.url,
      ORCHESTRATOR_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      GATEWAY_FORWARD_TIMEOUT_SEC: "0.2",
    });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = await fetch(`${gateway.url}/api/platform/submit`, {
      method: "POST",
      headers,
      body: JSON.stringify(newSubmission()),
    });
    expect(await sent.json()).toMatchObject({
      status: 503,
      detail: expect.stringContaining("same idempotency key") as string,
    });
    await stopGateway(gateway);
    await user.remove();
    silent.closeAllConnections();
    silent.close();
  });

  it("refuses to start with a database user that could write", async () => {
    const gateway = await startTestGateway({ GATEWAY_DATABASE_URL: test.api.database.url });
    const ready = await fetch(`${gateway.url}/api/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toMatch(/`role`.*superuser/);
    const headers = { authorization: `Bearer ${key}` };
    expect((await fetch(`${gateway.url}/api/platform`, { headers })).status).toBe(503);
    await stopGateway(gateway);
  });
});

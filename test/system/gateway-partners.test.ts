/** Tries on every route, by the list of contracts, that a partner sees nothing of another. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Contract } from "../../src/core/api/contract.ts";
import { gatewayContracts } from "../../src/core/api/gateway/index.ts";
import { halfWorld, resolutionAt } from "../../src/core/serving/web-mercator.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import { makeWorkflowFolder } from "../support/domain.ts";
import type { Call } from "../support/gateway.ts";
import { GatewayTest } from "../support/gateway.ts";
import { writeTiff } from "../support/tiff.ts";

const contracts: readonly Contract[] = gatewayContracts;
const partnerAccess = ["read", "submit", "curate", "admin"] as const;
const forPartners = contracts.filter(({ access }) => partnerAccess.some((each) => each === access));
const forOperators = contracts.filter(({ access }) => access === "operate");

const submission = {
  workflow_id: "etl_test",
  platform_refs: { dataset_id: "birds", resource_id: "viewer" },
  version_label: "V1",
  inputs: { blob_path: "ddh/birds.tif" },
};

/** A body that the right partner could send; a new route needs an entry here. */
const bodies: Readonly<Record<string, JsonObject | undefined>> = {
  platformSubmit: submission,
  platformCancel: {},
  submitBatch: { items: [submission] },
  platformCreateKey: { name: "stolen", scopes: ["admin"] },
  platformRotateKey: {},
  platformRevokeKey: undefined,
  platformCallbackSecret: {},
  platformRedeliver: undefined,
  assetsApprove: { clearance: "public" },
  assetsReject: { reason: "not mine" },
  assetsWithdraw: { reason: "not mine" },
  assetsUnpublishVersion: {},
  assetsUnpublish: {},
  assetsRollback: { to_revision: 1 },
  assetsClearance: { clearance: "public" },
  assetsExposure: { exposure: "all-versions" },
  assetsResubmit: {},
  assetsReprocess: {},
  ogcExecute: { inputs: {} },
  ogcDismiss: undefined,
  partnerAppendUpload: {},
};

let test: GatewayTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
let victim: Record<string, string>;
let other: string;

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await GatewayTest.open({
    workflows: folder.folder,
    env: {
      GATEWAY_RATE_PER_SECOND: "10000",
      GATEWAY_RATE_BURST: "10000",
      GATEWAY_GUESSES_PER_MINUTE: "10000",
    },
  });
  await test.api.storage.put("bronze/ddh/birds.tif", new Uint8Array([1, 2, 3]));
  await test.api.database.db.query(
    "UPDATE dagapp.platforms SET callback_hosts = '{hooks.example.org}' WHERE platform_id = 'ddh'",
  );
  const key = await test.key("ddh", "admin");
  other = await test.key("arcgis", "admin");
  const body = { ...submission, callback_url: "https://hooks.example.org/done" };
  const submitted = await test.call("POST", "/api/platform/submit", { key, body });
  expect(submitted.text).toContain("accepted");
  const { request_id, asset_id } = submitted.json<{ request_id: string; asset_id: string }>();
  const { job_id } = await test.api.reader.getRequest({ params: { request_id } });
  const blob_path = `silver/${job_id}/birds.tif`;
  await test.api.storage.put(blob_path, picture());
  for (const task of await test.api.engine.take(job_id)) {
    await test.api.engine.complete(task, { blob_path });
  }
  await test.api.engine.tick();
  const approved = await test.call("POST", `/api/assets/${asset_id}/versions/0/approve`, {
    key,
    body: { clearance: "ouo" },
  });
  expect(approved.status, approved.text).toBe(200);
  const keys = (await test.call("GET", "/api/platform/keys", { key })).json<{
    items: { key_id: string }[];
  }>();
  const deliveries = (await test.call("GET", "/api/platform/deliveries", { key })).json<{
    items: { event_id: string }[];
  }>();
  const upload_id = randomUUID();
  await test.api.database.db.query(
    `INSERT INTO dagapp.uploads (upload_id, path, length, platform_id, created_by, expires_at)
     VALUES ($1, 'bronze/ddh/next.tif', 10, 'ddh', 'test', now() + interval '1 day')`,
    [upload_id],
  );
  victim = {
    key,
    upload_id,
    request_id,
    asset_id,
    version_ordinal: "0",
    key_id: keys.items[0]!.key_id,
    event_id: deliveries.items[0]!.event_id,
    z: "1",
    x: "1",
    y: "0.png",
  };
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

/** The north-eastern quarter of the world, in grey. */
function picture(): Uint8Array {
  const band = Uint8Array.from({ length: 256 * 256 }, (_, index) => index % 256);
  return writeTiff({
    images: [{ width: 256, height: 256, block: 256, bands: [band] }],
    epsg: 3857,
    origin: [0, halfWorld],
    pixel: [resolutionAt(1), resolutionAt(1)],
  });
}

function bodyOf({ id, body, rawBody }: Contract): Pick<Call, "body" | "headers"> {
  if (body === undefined) return {};
  if (!Object.hasOwn(bodies, id)) throw new Error(`say in this test what ${id} is sent`);
  if (rawBody === undefined) return { body: bodies[id] };
  const headers = { "tus-resumable": "1.0.0", "upload-offset": "0", "content-type": rawBody };
  return { body: bodies[id], headers };
}

function fill(path: string, values: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\*?\}/g, (_, name: string) => values[name] ?? "x");
}

/** A hash of all rows of the domain and the engine. */
async function stateOfEverything(): Promise<string> {
  const tables = [
    "requests",
    "geospatial_assets",
    "asset_versions",
    "asset_revisions",
    "asset_events",
    "api_keys",
    "platforms",
    "callback_deliveries",
    "dag_jobs",
    "layer_metadata",
  ];
  const parts = tables.map(
    (table) => `SELECT '${table}' AS name, t::text AS row FROM dagapp.${table} t`,
  );
  const { rows } = await test.api.database.db.query<{ state: string }>(
    `SELECT md5(string_agg(name || row, E'\\n' ORDER BY name, row)) AS state
     FROM (${parts.join(" UNION ALL ")}) AS everything`,
  );
  return rows[0]!.state;
}

const theirs = ["request_id", "asset_id", "key_id", "event_id", "upload_id"];
const named = forPartners.filter(({ path }) => theirs.some((name) => path.includes(`{${name}}`)));

describe("another partner's key, whatever its scopes", () => {
  it.each(named.map((contract) => [contract.id, contract] as const))(
    "%s: finds nothing, and changes nothing",
    async (_id, contract) => {
      const before = await stateOfEverything();
      const path = fill(contract.path, victim);
      const answer = await test.call(contract.method, path, { key: other, ...bodyOf(contract) });
      expect(answer.status, answer.text).toBe(404);
      expect(await stateOfEverything()).toBe(before);
    },
  );

  it.each(named.map((contract) => [contract.id, contract] as const))(
    "%s: cannot tell what is another's from what does not exist",
    async (_id, contract) => {
      const nothing = {
        request_id: "5e1f0000-0000-4000-8000-000000000000",
        asset_id: "0".repeat(32),
        key_id: "0".repeat(12),
        event_id: "evt_0",
        upload_id: "5e1f0000-0000-4000-8000-000000000000",
        version_ordinal: "0",
        z: "1",
        x: "1",
        y: "0.png",
      };
      const answers = [victim, nothing].map(async (values) => {
        const { body = {}, headers = {} } = bodyOf(contract);
        const call = { key: other, headers, ...(contract.body === undefined ? {} : { body }) };
        const answer = await test.call(contract.method, fill(contract.path, values), call);
        const shown = Object.values(values).reduce(
          (text, id) => (id.length > 4 ? text.replaceAll(id, "…") : text),
          answer.text,
        );
        return [answer.status, shown.replace(/"instance":"[^"]*"/, "")];
      });
      const [foreign, missing] = await Promise.all(answers);
      expect(foreign).toEqual(missing);
    },
  );

  it("lists nothing of theirs", async () => {
    const lists = forPartners.filter(({ method, path }) => method === "GET" && !path.includes("{"));
    expect(lists.length).toBeGreaterThan(5);
    for (const { path } of lists) {
      const { status, text } = await test.call("GET", path, { key: other });
      expect([path, status]).toEqual([path, 200]);
      for (const name of theirs) expect(text, path).not.toContain(victim[name]);
    }
  });

  it("sees no tile of theirs, and a preview of its own only with a key that curates", async () => {
    const tile = `/api/assets/${victim["asset_id"]!}/tiles/1/1/0.png`;
    const own = await test.call("GET", tile, { key: victim["key"]! });
    expect([own.status, own.headers.get("content-type")]).toEqual([200, "image/png"]);
    const reader = await test.key("ddh", "read");
    for (const [key, query, status] of [
      [other, "", 404],
      [other, "?preview=true", 404],
      [reader, "", 200],
      [reader, "?version=0", 404],
      [reader, "?version=0&preview=true", 403],
      [victim["key"]!, "?version=0&preview=true", 200],
    ] as const) {
      expect([query, (await test.call("GET", tile + query, { key })).status]).toEqual([
        query,
        status,
      ]);
    }
  });

  it("cannot submit in their name", async () => {
    const before = await stateOfEverything();
    const forged = { ...submission, platform_id: "ddh" };
    const answer = await test.call("POST", "/api/platform/submit", { key: other, body: forged });
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer: "/platform_id" }] });
    expect(await stateOfEverything()).toBe(before);
  });
});

describe("a key's scopes", () => {
  it("open what they name, and nothing else", async () => {
    const keys = new Map<string, string>();
    for (const scope of ["read", "submit", "curate"] as const) {
      keys.set(scope, await test.key("arcgis", scope));
    }
    for (const contract of [...forPartners, ...forOperators]) {
      const path = fill(contract.path, victim);
      for (const [scope, key] of keys) {
        const { status } = await test.call(contract.method, path, { key, ...anyBody(contract) });
        const what = `${contract.id} with ${scope}`;
        if (scope === contract.access) expect([what, status]).not.toEqual([what, 403]);
        else expect([what, status]).toEqual([what, 403]);
      }
    }
  });

  it("never open what is for operators", async () => {
    expect(forOperators.length).toBeGreaterThan(12);
    for (const contract of forOperators) {
      const path = fill(contract.path, { ...victim, target: "orchestrator" });
      const answer = await test.call(contract.method, path, { key: other });
      expect([contract.id, answer.status]).toEqual([contract.id, 403]);
    }
  });

  it("are asked for everywhere but on the probes", async () => {
    const open = contracts.filter(({ access }) => access === "public").map(({ path }) => path);
    expect(open.sort()).toEqual([
      "/api/docs",
      "/api/gateway/health",
      "/api/livez",
      "/api/ogc",
      "/api/ogc/conformance",
      "/api/openapi.json",
      "/api/readyz",
      "/livez",
      "/readyz",
    ]);
    for (const contract of [...forPartners, ...forOperators]) {
      const path = fill(contract.path, victim);
      expect((await test.call(contract.method, path)).status, contract.id).toBe(401);
      const forged = `rmhk_${victim["key_id"]}_${"a".repeat(43)}`;
      const answer = await test.call(contract.method, path, { key: forged });
      expect(answer.status, contract.id).toBe(401);
    }
  });

  it("of an operator's token do not make a partner of him", async () => {
    const key = GatewayTest.operatorToken;
    expect((await test.call("GET", "/api/status/jobs", { key })).status).toBe(200);
    expect((await test.call("GET", "/api/platform/requests", { key })).status).toBe(403);
  });
});

/** A body for requests that the access check refuses before it is read. */
function anyBody(contract: Contract): { body?: unknown } {
  return contract.body === undefined ? {} : { body: {} };
}

describe("everything that partners were ever answered", () => {
  it("names no job and no owner", async () => {
    const key = victim["key"]!;
    // Their own partner sees all there is to see of them.
    for (const contract of forPartners.filter(({ method }) => method === "GET")) {
      const path = fill(contract.path, { ...victim, process_id: "etl_test" });
      const { status } = await test.call("GET", path, { key });
      expect([contract.id, status]).toEqual([contract.id, 200]);
    }
    const secrets = await test.secrets();
    expect(secrets.length).toBeGreaterThan(1);
    const seen = test.recorded.filter(({ caller }) => caller !== GatewayTest.operatorToken);
    expect(seen.length).toBeGreaterThan(200);
    for (const { call, text } of seen) {
      expect(
        secrets.filter((secret) => text.includes(secret)),
        call,
      ).toEqual([]);
    }
  });
});

/**
 * Which items of the catalogue each caller sees: those of versions, of operators, and those without an
 * owner.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newJobId } from "../../src/adapters/runtime/new-job-id.ts";
import {
  upsertCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { ownerOfJob } from "../../src/adapters/postgres/queries/catalogue-owners.ts";
import type { Client } from "../../src/core/api/client.ts";
import { operators } from "../../src/core/catalogue/owner.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { makeWorkflowFolder } from "../support/domain.ts";
import { collectionOf, itemOf, registerFor } from "../support/stac.ts";

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
const assets: Record<string, string> = {};

/** Each lies two degrees further east, so that an extent shows which items it covers. */
const places = ["plain", "pending", "official", "open", "open-lines", "old", "lost"];

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  const { db } = test.domain;
  await test.storage.put("bronze/ddh/a.tif", new Uint8Array([1]));
  await upsertCollection(db, collectionOf("empty"), operators);
  await test.database.db.query(
    "UPDATE dagapp.platforms SET collections = '{mixed}' WHERE platform_id = 'ddh'",
  );
  await upsertCollection(db, collectionOf("mixed"), operators);
  await upsertItems(db, "mixed", [await made("plain")], operators);
  // As an earlier release wrote it: to whom it belongs cannot be told.
  await upsertItems(db, "mixed", [await made("lost")]);
  await version("pending");
  await version("official");
  await approve("official", 0, "ouo");
  await version("old", "open");
  await approve("open", 0, "public");
  // A layer of two geometry types has two items, and its version names the first.
  await version("open", "open", "V2", "mixed", ["open-lines"]);
  await approve("open", 1, "public");
  await version("hidden", "hidden", "V1", "secret");
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

async function made(id: string, collection = "mixed") {
  const west = 2 * places.indexOf(id);
  const path = `silver/${id}.tif`;
  await test.storage.put(path, new TextEncoder().encode(id));
  return itemOf(collection, id, {
    bbox: [west, 0, west + 1, 1],
    properties: { [`of:${id}`]: 1 },
    assets: { data: { href: "/x", "rmhdag:path": path } },
  });
}

async function version(
  id: string,
  dataset = id,
  version_label = "V1",
  collection = "mixed",
  more: string[] = [],
) {
  const accepted = await test.operator.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id: dataset, resource_id: "r" },
      version_label,
      workflow_id: "etl_test",
      inputs: { blob_path: "ddh/a.tif" },
    },
  });
  assets[dataset] = accepted.asset_id;
  for (const each of [id, ...more]) {
    await registerFor(test.domain.db, accepted.job_id, [await made(each, collection)]);
  }
  for (const task of await test.engine.take(accepted.job_id)) {
    const output = { stac_item_id: id, stac_collection_id: collection };
    await test.engine.complete(task, { blob_path: `silver/${id}.tif`, ...output });
  }
  await test.engine.tick();
  return accepted;
}

async function approve(dataset: string, version_ordinal: number, clearance: "ouo" | "public") {
  const params = { asset_id: assets[dataset]!, version_ordinal };
  await test.curator.approveVersion({ params, body: { clearance } });
}

const get = (path: string, token?: string) =>
  fetch(`${test.baseUrl}${path}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });

const viewers: [string, string | undefined, string[]][] = [
  ["a caller without a token", undefined, ["open", "open-lines"]],
  ["a reader", tokens.reader, ["official", "open", "open-lines", "plain"]],
  [
    "a curator",
    tokens.curator,
    ["hidden", "lost", "official", "old", "open", "open-lines", "pending", "plain"],
  ],
];

describe.each(viewers)("%s", (_name, token, seen) => {
  const ofMixed = seen.filter((id) => id !== "hidden");
  const isCurator = seen.includes("hidden");

  it("finds exactly these, and they are counted so", async () => {
    for (const path of [
      "/stac/search?sortby=id&limit=100",
      "/stac/collections/mixed/items?sortby=id&limit=100",
    ]) {
      const page = (await (await get(path, token)).json()) as {
        features: { id: string }[];
        numberMatched: number;
      };
      const expected = path.includes("/collections/") ? ofMixed : seen;
      expect(page.features.map(({ id }) => id)).toEqual(expected);
      expect(page.numberMatched).toBe(expected.length);
    }
    const posted = await fetch(`${test.baseUrl}/stac/search`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        ids: ["pending", "open", "plain"],
        sortby: [{ field: "id", direction: "asc" }],
      }),
    });
    const { features } = (await posted.json()) as { features: { id: string }[] };
    const asked = ["open", "pending", "plain"].filter((id) => seen.includes(id));
    expect(features.map(({ id }) => id)).toEqual(asked);
  });

  it("opens these and no other, nor their files and tiles", async () => {
    for (const id of places) {
      const item = `/stac/collections/mixed/items/${id}`;
      const expected = seen.includes(id) ? 200 : token === undefined ? 401 : 404;
      expect([id, (await get(item, token)).status]).toEqual([id, expected]);
      expect([id, (await get(`${item}/assets/data`, token)).status]).toEqual([id, expected]);
      // The files here are no rasters: a caller who may see them gets that error.
      const shown = expected === 200 ? 422 : expected;
      expect([id, (await get(`${item}/info`, token)).status]).toEqual([id, shown]);
      const features = expected === 200 ? 404 : expected;
      expect([id, (await get(`${item}/features`, token)).status]).toEqual([id, features]);
    }
    const missing = await get("/stac/collections/mixed/items/none", token);
    expect(missing.status).toBe(token === undefined ? 401 : 404);
  });

  it("sees collections as far as their items, with the extent of those", async () => {
    const page = (await (await get("/stac/collections", token)).json()) as {
      collections: { id: string; extent: { spatial: { bbox: number[][] } } }[];
    };
    const names = isCurator
      ? ["empty", "mixed", "secret"]
      : token === undefined
        ? ["mixed"]
        : ["empty", "mixed"];
    expect(page.collections.map(({ id }) => id)).toEqual(names);
    const where = ofMixed.map((id) => 2 * places.indexOf(id));
    const extent = [Math.min(...where), 0, Math.max(...where) + 1, 1];
    const mixed = page.collections.find(({ id }) => id === "mixed")!;
    expect(mixed.extent.spatial.bbox).toEqual([extent]);
    const one = (await (await get("/stac/collections/mixed", token)).json()) as typeof mixed;
    expect(one.extent).toEqual(mixed.extent);
    const landing = (await (await get("/stac", token)).json()) as { links: { rel: string }[] };
    expect(landing.links.filter(({ rel }) => rel === "child")).toHaveLength(names.length);
    for (const path of ["", "/items", "/queryables"]) {
      const { status } = await get(`/stac/collections/secret${path}`, token);
      expect(status).toBe(isCurator ? 200 : token === undefined ? 401 : 404);
    }
  });

  it("lists the properties of these only", async () => {
    for (const path of ["/stac/queryables", "/stac/collections/mixed/queryables"]) {
      const { properties } = (await (await get(path, token)).json()) as { properties: object };
      const named = Object.keys(properties).filter((name) => name.startsWith("of:"));
      const expected = path === "/stac/queryables" ? seen : ofMixed;
      expect(named).toEqual(expected.map((id) => `of:${id}`).toSorted());
    }
  });
});

it("a withdrawn clearance hides at once what was public", async () => {
  const item = "/stac/collections/mixed/items/open";
  const params = { asset_id: assets["open"]! };
  await test.curator.setClearance({ params, body: { clearance: "ouo" } });
  expect((await get(item)).status).toBe(401);
  expect((await get(item, tokens.reader)).status).toBe(200);
  expect((await get("/stac/collections/mixed")).status).toBe(401);
  await test.curator.setClearance({ params, body: { clearance: "public" } });
  expect((await get(item)).status).toBe(200);
});

it("an unknown token is refused, also where none is needed", async () => {
  expect((await get("/stac", "nonsense")).status).toBe(401);
});

const search = async (token?: string) => {
  const page = await get("/stac/search?limit=200", token);
  const { features } = (await page.json()) as { features: { id: string }[] };
  return features.map(({ id }) => id).toSorted();
};
const submit = (dataset: string, version_label = "V1") =>
  test.operator.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id: dataset, resource_id: "r" },
      version_label,
      workflow_id: "etl_test",
      inputs: { blob_path: "ddh/a.tif" },
    },
  });
async function finish(job_id: string, output: JsonObject) {
  for (const task of await test.engine.take(job_id)) await test.engine.complete(task, output);
  await test.engine.tick();
}

describe("the items of a version, which names none of them", () => {
  const collection = "scenes";
  const output = { stac_collection_id: collection, content_hash: "one" };
  const scene = (id: string) => itemOf(collection, id, { bbox: [50, 50, 51, 51] });
  const seen = async (token?: string) =>
    (await search(token)).filter((id) => id.startsWith("scene"));
  const statusOf = async (path: string, token?: string) => (await get(path, token)).status;
  let asset_id: string;
  const params = () => ({ asset_id, version_ordinal: 0 });

  it("are seen by no one but curators before the approval, nor is their collection", async () => {
    const accepted = await submit("scenes");
    ({ asset_id } = accepted);
    await registerFor(test.domain.db, accepted.job_id, [scene("scene-1"), scene("scene-2")]);
    // While the job runs nothing is shown, and an empty collection would give its name away.
    expect(await seen(tokens.curator)).toEqual([]);
    expect(await statusOf("/stac/collections/scenes", tokens.reader)).toBe(404);
    await finish(accepted.job_id, output);
    expect(await seen(tokens.curator)).toEqual(["scene-1", "scene-2"]);
    expect(await seen(tokens.reader)).toEqual([]);
    expect(await seen()).toEqual([]);
    for (const path of ["", "/items", "/items/scene-1", "/WebMercatorQuad/tilejson.json"]) {
      expect(await statusOf(`/stac/collections/scenes${path}`, tokens.reader)).toBe(404);
    }
  });

  it("are seen after it by their clearance, and no more after a rejection or a withdrawal", async () => {
    await test.curator.rejectVersion({ params: params(), body: { reason: "wrong" } });
    expect(await seen(tokens.reader)).toEqual([]);
    await test.curator.approveVersion({ params: params(), body: { clearance: "ouo" } });
    expect(await seen(tokens.reader)).toEqual(["scene-1", "scene-2"]);
    expect(await seen()).toEqual([]);
    await test.curator.withdrawVersion({ params: params(), body: { reason: "a complaint" } });
    expect(await seen(tokens.reader)).toEqual([]);
    await test.curator.approveVersion({ params: params(), body: { clearance: "public" } });
    expect(await seen()).toEqual(["scene-1", "scene-2"]);
  });

  it("are those of the served revision: others leave none behind", async () => {
    const failed = await test.operator.reprocessVersion({ params: params() });
    await registerFor(test.domain.db, failed.job_id, [scene("scene-3")]);
    for (const task of await test.engine.take(failed.job_id)) {
      await test.engine.fail(task, { category: "permanent", message: "broke" });
    }
    await test.engine.tick();
    expect(await seen()).toEqual(["scene-1", "scene-2"]);
    const again = await test.operator.reprocessVersion({ params: params() });
    await registerFor(test.domain.db, again.job_id, [scene("scene-2"), scene("scene-4")]);
    expect(await seen()).toEqual(["scene-1", "scene-2"]);
    await finish(again.job_id, output);
    expect(await seen(tokens.curator)).toEqual(["scene-2", "scene-4"]);
    expect(await seen()).toEqual(["scene-2", "scene-4"]);
    await test.operator.rollbackVersion({ params: params(), body: { to_revision: 1 } });
    expect(await seen()).toEqual(["scene-1", "scene-2"]);
  });

  it("of a reprocessed source that has changed wait for a new review", async () => {
    const again = await test.operator.reprocessVersion({ params: params() });
    await registerFor(test.domain.db, again.job_id, [scene("scene-5")]);
    await finish(again.job_id, { ...output, content_hash: "two" });
    expect(await seen(tokens.curator)).toEqual(["scene-5"]);
    expect(await seen(tokens.reader)).toEqual([]);
    const { versions } = await test.reader.getAsset({ params: params() });
    expect(versions[0]).toMatchObject({ approval_state: "pending_review", served_revision: 5 });
    const events = await test.reader.listAssetEvents({ params: params() });
    expect(events.items.at(-1)).toMatchObject({ event_type: "processing_completed" });
    expect(events.items.map(({ event_type }) => event_type)).toContain("version_withdrawn");
    await test.curator.approveVersion({ params: params(), body: { clearance: "public" } });
    await test.operator.rollbackVersion({ params: params(), body: { to_revision: 1 } });
    expect(await seen(tokens.reader)).toEqual([]);
    await test.curator.approveVersion({ params: params(), body: { clearance: "public" } });
    expect(await seen()).toEqual(["scene-1", "scene-2"]);
  });

  it("are gone when the version is deleted, before its job has removed them", async () => {
    await test.curator.unpublishVersion({ params: params(), body: {} });
    expect(await seen()).toEqual([]);
    expect(await seen(tokens.reader)).toEqual([]);
    const { items } = await test.reader.listJobs({ query: { workflow_id: "unpublish_version" } });
    expect(items).toHaveLength(1);
  });
});

describe("what belongs to others", () => {
  const refused = (work: Promise<unknown>) =>
    work.then(
      () => "allowed",
      (error: unknown) => (error as { code: string }).code,
    );
  let db: Database;
  beforeAll(() => {
    ({ db } = test.domain);
  });

  it("is not written by the job of a platform: collection, item, file", async () => {
    const { job_id } = await submit("greedy");
    await upsertCollection(db, collectionOf("operators"), operators);
    const register = (item: StacItem) => refused(registerFor(db, job_id, [item]));
    expect(await register(itemOf("operators", "x"))).toBe("COLLECTION_NOT_YOURS");
    expect(await register(itemOf("mixed", "plain"))).toBe("ITEM_NOT_YOURS");
    expect(await register(itemOf("mixed", "pending"))).toBe("ITEM_NOT_YOURS");
    expect(await register(itemOf("mixed", "lost"))).toBe("ITEM_NOT_YOURS");
    const using = (path: string) =>
      itemOf("greedy", "x", { assets: { data: { href: "/x", "rmhdag:path": path } } });
    expect(await register(using("silver/pending.tif"))).toBe("FILES_NOT_YOURS");
    expect(await register(using("silver/plain.tif"))).toBe("FILES_NOT_YOURS");
    expect(await register(using(`silver/${job_id}/a/b.tif`))).toBe("allowed");
    const { job_id: second } = await submit("greedy-too");
    expect(await refused(registerFor(db, second, [using(`silver/${job_id}/a/c.tif`)]))).toBe(
      "FILES_NOT_YOURS",
    );
  });

  it("is not shown by an operator's job that catalogues the files of a version", async () => {
    const { job_id } = await submit("catalogued");
    const item = itemOf("mixed", "copy", {
      assets: { data: { href: "/x", "rmhdag:path": `silver/${job_id}/create_cog/a.tif` } },
    });
    const work = upsertItems(db, "mixed", [item], operators);
    expect(await refused(work)).toBe("FILES_NOT_YOURS");
  });

  it("stays with its version when a job is run again, and without a job it has no owner", async () => {
    const { job_id, asset_id } = await submit("again");
    for (const task of await test.engine.take(job_id)) {
      await test.engine.fail(task, { category: "permanent", message: "broke" });
    }
    await test.engine.tick();
    const first = await test.operator.retryJob({ params: { job_id } });
    for (const task of await test.engine.take(first.job_id)) {
      await test.engine.fail(task, { category: "permanent", message: "broke" });
    }
    await test.engine.tick();
    await test.operator.retryJob({ params: { job_id: first.job_id } });
    // Superseded by the one before: it is in no list of the version's jobs.
    const third = await test.operator.retryJob({ params: { job_id } });
    expect(await ownerOfJob(db, third.job_id)).toMatchObject({ kind: "version", asset_id });
    expect(await ownerOfJob(db, newJobId())).toBeUndefined();
  });
});

it("lists a layer no more when its version is not served", async () => {
  const { asset_id, job_id } = await submit("layered");
  await finish(job_id, { blob_path: "silver/layered.tif", content_hash: "one" });
  const params = { asset_id, version_ordinal: 0 };
  await test.curator.putLayerMetadata({ params, body: { display_name: "Layered" } });
  await test.curator.approveVersion({ params, body: { clearance: "ouo" } });
  await test.operator.runCommand({ params: { name: "metadata.publish" }, body: { asset_id } });
  const listed = async (client: Client) =>
    (await client.listLayers({ query: { limit: 500 } })).items.length;
  expect([await listed(test.reader), await listed(test.curator)]).toEqual([1, 1]);
  await test.curator.withdrawVersion({ params, body: { reason: "a complaint" } });
  expect([await listed(test.reader), await listed(test.curator)]).toEqual([0, 1]);
});

describe("transactions", () => {
  const change = async (
    method: string,
    path: string,
    body?: object,
    token: string = tokens.curator,
  ) => {
    const answer = await fetch(`${test.baseUrl}/stac/collections${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      location: answer.headers.get("location"),
      body: (text === "" ? {} : JSON.parse(text)) as JsonObject & StacItem & { code?: string },
    };
  };
  const plain = {
    type: "Feature",
    stac_version: "1.0.0",
    geometry: { type: "Point", coordinates: [7, 46] },
    properties: { datetime: "2024-05-01T00:00:00Z" },
    assets: { photo: { href: "https://example.org/a.jpg", type: "image/jpeg" } },
  };

  it("are for curators", async () => {
    for (const token of [tokens.reader, tokens.operator]) {
      const { status, body } = await change("POST", "/mixed/items", { ...plain, id: "a" }, token);
      expect([status, body.code]).toEqual([403, "FORBIDDEN"]);
    }
  });

  it("create, change and delete a collection", async () => {
    const given = { id: "drawn", description: "Drawn by hand.", license: "other" };
    const made = await change("POST", "", given);
    expect([made.status, made.location]).toEqual([201, `${test.baseUrl}/stac/collections/drawn`]);
    expect(await change("POST", "", given)).toMatchObject({ body: { code: "COLLECTION_EXISTS" } });
    const read = await change("GET", "/drawn");
    const same = await change("PUT", "/drawn", read.body);
    expect(same.body).toEqual(read.body);
    const patched = await change("PATCH", "/drawn", { title: "Drawn", keywords: ["a"] });
    expect(patched.body).toMatchObject({ title: "Drawn", description: "Drawn by hand." });
    expect((await change("PATCH", "/drawn", { title: null })).body).not.toHaveProperty("title");
    const bad = await change("PATCH", "/drawn", { license: 1 });
    expect(bad.body).toMatchObject({ code: "BAD_REQUEST", errors: [{ pointer: "/license" }] });
    await change("POST", "/drawn/items", { ...plain, id: "a" });
    expect(await change("DELETE", "/drawn")).toMatchObject({
      status: 409,
      body: { code: "COLLECTION_NOT_EMPTY" },
    });
    expect((await change("DELETE", "/drawn/items/a")).status).toBe(204);
    expect((await change("DELETE", "/drawn")).status).toBe(204);
    expect((await change("DELETE", "/drawn")).body.code).toBe("COLLECTION_NOT_FOUND");
  });

  it("create, change and delete items, which readers then see", async () => {
    const made = await change("POST", "/empty/items", { ...plain, id: "one" });
    const self = `${test.baseUrl}/stac/collections/empty/items/one`;
    expect([made.status, made.location]).toEqual([201, self]);
    expect(made.body).toMatchObject({ collection: "empty", bbox: [7, 46, 7, 46] });
    const again = await change("POST", "/empty/items", { ...plain, id: "one" });
    expect([again.status, again.body.code]).toEqual([409, "ITEM_EXISTS"]);
    // All or none.
    const two = [
      { ...plain, id: "two" },
      { ...plain, id: "one" },
    ];
    const many = await change("POST", "/empty/items", { type: "FeatureCollection", features: two });
    expect(many.status).toBe(409);
    expect((await change("GET", "/empty/items/two")).status).toBe(404);

    const read = await change("GET", "/empty/items/one", undefined, tokens.reader);
    const put = await change("PUT", "/empty/items/one", read.body);
    expect(put.body).toEqual(read.body);
    const patched = await change("PATCH", "/empty/items/one", { properties: { title: "One" } });
    expect(patched.body.properties).toMatchObject({ title: "One", ...plain.properties });
    const moved = await change("PUT", "/empty/items/one", { ...plain, collection: "mixed" });
    expect([moved.status, moved.body.code]).toEqual([400, "BAD_REQUEST"]);
    expect((await change("PUT", "/empty/items/none", plain)).body.code).toBe("ITEM_NOT_FOUND");
    expect((await change("DELETE", "/empty/items/one")).status).toBe(204);
    expect((await change("GET", "/empty/items/one")).status).toBe(404);
  });

  it("keep the items of versions governed", async () => {
    for (const [method, body] of [
      ["PATCH", { properties: { title: "Mine" } }],
      ["PUT", plain],
      ["DELETE", undefined],
    ] as const) {
      const { status, body: refused } = await change(method, "/mixed/items/official", body);
      expect([status, refused.code]).toEqual([409, "ITEM_GOVERNED"]);
      expect(refused["detail"]).toContain(assets["official"]);
    }
    // The id of an item that is not shown yet is taken too.
    const taken = await change("POST", "/secret/items", { ...plain, id: "hidden" });
    expect(taken.body.code).toBe("ITEM_EXISTS");
  });

  it("give an item no file of the platform, and take none from it", async () => {
    const stolen = { data: { href: "/x", "rmhdag:path": "silver/official.tif" } };
    const refused = await change("POST", "/empty/items", { ...plain, id: "s", assets: stolen });
    expect(refused.body).toMatchObject({
      code: "BAD_REQUEST",
      errors: [{ pointer: "/assets/data/rmhdag:path" }],
    });
    const other = await change("PATCH", "/mixed/items/plain", { assets: stolen });
    expect(other.status).toBe(400);
    const seen = await change("GET", "/mixed/items/plain", undefined, tokens.reader);
    expect((await change("PUT", "/mixed/items/plain", seen.body)).status).toBe(200);
    const kept = await change("GET", "/mixed/items/plain");
    expect(kept.body.assets["data"]?.["rmhdag:path"]).toBe("silver/plain.tif");
    // It has no owner, and so it stays with curators.
    expect((await change("PATCH", "/mixed/items/lost", { properties: { a: 1 } })).status).toBe(200);
    expect((await change("GET", "/mixed/items/lost", undefined, tokens.reader)).status).toBe(404);
  });
});

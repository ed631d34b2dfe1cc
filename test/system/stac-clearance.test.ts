/** Which items of the catalogue each caller sees: those of governed assets, and those of none. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  upsertCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { makeWorkflowFolder } from "../support/domain.ts";
import { collectionOf, itemOf } from "../support/stac.ts";

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
const assets: Record<string, string> = {};

/** Each lies two degrees further east, so that an extent shows which items it covers. */
const places = ["plain", "pending", "official", "open", "open-lines", "old"];

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  const { db } = test.domain;
  await test.storage.put("bronze/a.tif", new Uint8Array([1]));
  for (const id of ["mixed", "secret", "empty"]) await upsertCollection(db, collectionOf(id));
  await put("plain");
  await version("pending");
  await version("official");
  await approve("official", 0, "ouo");
  await version("old", "open");
  await approve("open", 0, "public");
  const { request_id } = await version("open", "open", "V2");
  // A layer of two geometry types has two items, and its version names the first.
  await put("open-lines", { "platform:request_id": request_id });
  await approve("open", 1, "public");
  await version("hidden", "hidden", "V1", "secret");
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

async function put(id: string, properties: object = {}, collection = "mixed") {
  const west = 2 * places.indexOf(id);
  const path = `silver/${id}.tif`;
  await test.storage.put(path, new TextEncoder().encode(id));
  await upsertItems(test.domain.db, collection, [
    itemOf(collection, id, {
      bbox: [west, 0, west + 1, 1],
      properties: { [`of:${id}`]: 1, ...properties },
      assets: { data: { href: "/x", "rmhdag:path": path } },
    }),
  ]);
}

async function version(id: string, dataset = id, version_label = "V1", collection = "mixed") {
  const accepted = await test.operator.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id: dataset, resource_id: "r" },
      version_label,
      workflow_id: "etl_test",
      inputs: { blob_path: "a.tif" },
    },
  });
  assets[dataset] = accepted.asset_id;
  await put(id, { "platform:request_id": accepted.request_id }, collection);
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
    ["hidden", "official", "old", "open", "open-lines", "pending", "plain"],
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

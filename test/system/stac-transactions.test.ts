/** Changes of the catalogue by the transaction extensions of the STAC API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { upsertItems } from "../../src/adapters/postgres/repositories/catalogue.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { itemOf } from "../support/stac.ts";

let test: ApiTest;
beforeAll(async () => {
  test = await openApiTest();
});
afterAll(() => test.close());

async function send(method: string, path: string, body?: object, token = tokens.curator) {
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
    body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> & { code?: string },
  };
}
const refused = async (status: number, code: string, ...request: Parameters<typeof send>) => {
  const answer = await send(...request);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
};
const collection = (id: string, title: string) => ({
  type: "Collection",
  stac_version: "1.1.0",
  id,
  title,
  description: "Scenes of a curator",
  license: "CC-BY-4.0",
  extent: { spatial: { bbox: [[0, 0, 1, 1]] }, temporal: { interval: [[null, null]] } },
  links: [],
});

describe("a curator", () => {
  it("creates, replaces, patches and deletes a collection", async () => {
    const made = await send("POST", "", collection("scenes", "Scenes"));
    expect(made).toMatchObject({
      status: 201,
      location: `${test.baseUrl}/stac/collections/scenes`,
      body: { id: "scenes", title: "Scenes" },
    });
    await refused(409, "COLLECTION_EXISTS", "POST", "", collection("scenes", "Again"));
    const replaced = await send("PUT", "/scenes", collection("scenes", "Other scenes"));
    expect(replaced).toMatchObject({ status: 200, body: { title: "Other scenes" } });
    const patched = await send("PATCH", "/scenes", { title: null, keywords: ["snow"] });
    expect(patched).toMatchObject({ status: 200, body: { keywords: ["snow"] } });
    expect(patched.body).not.toHaveProperty("title");
    const shown = await send("GET", "/scenes");
    expect(shown.body).toMatchObject({ keywords: ["snow"], license: "CC-BY-4.0" });
    expect((await send("DELETE", "/scenes")).status).toBe(204);
    await refused(404, "COLLECTION_NOT_FOUND", "GET", "/scenes");
  });

  it("adds items one by one or many at once, changes and deletes them", async () => {
    await send("POST", "", collection("more", "More"));
    const one = await send("POST", "/more/items", itemOf("more", "one"));
    expect(one).toMatchObject({
      status: 201,
      location: `${test.baseUrl}/stac/collections/more/items/one`,
      body: { id: "one", collection: "more" },
    });
    // All or none: "one" is there already.
    const many = (...ids: string[]) => ({
      type: "FeatureCollection",
      features: ids.map((id) => itemOf("more", id)),
    });
    await refused(409, "ITEM_EXISTS", "POST", "/more/items", many("two", "one"));
    await refused(404, "ITEM_NOT_FOUND", "GET", "/more/items/two");
    expect((await send("POST", "/more/items", many("two", "three"))).status).toBe(201);
    const read = (await send("GET", "/more/items/two")).body as unknown as StacItem;
    const changed = { ...read, properties: { ...read.properties, "eo:cloud_cover": 7 } };
    expect((await send("PUT", "/more/items/two", changed)).status).toBe(200);
    const patch = { properties: { "eo:cloud_cover": null, platform: "landsat-9" } };
    expect((await send("PATCH", "/more/items/two", patch)).status).toBe(200);
    const { properties } = (await send("GET", "/more/items/two")).body as unknown as StacItem;
    expect(properties).toMatchObject({ platform: "landsat-9", datetime: "2020-06-01T00:00:00Z" });
    expect(properties).not.toHaveProperty("eo:cloud_cover");
    await refused(409, "COLLECTION_NOT_EMPTY", "DELETE", "/more");
    for (const id of ["one", "two", "three"]) {
      expect((await send("DELETE", `/more/items/${id}`)).status).toBe(204);
    }
    await refused(404, "ITEM_NOT_FOUND", "DELETE", "/more/items/one");
    expect((await send("DELETE", "/more")).status).toBe(204);
  });

  it("cannot make an item show a file or a table of the platform", async () => {
    await send("POST", "", collection("safe", "Safe"));
    const asset = { href: "https://example.org/a.tif", "rmhdag:path": "bronze/secret.tif" };
    const item = itemOf("safe", "leak", { assets: { data: asset } });
    expect((await send("POST", "/safe/items", item)).status).toBe(400);
    const data = { href: "a", "rmhdag:path": "silver/own.tif" };
    await upsertItems(test.database.db, "safe", [itemOf("safe", "own", { assets: { data } })]);
    await send("PATCH", "/safe/items/own", { properties: { title: "Mine" } });
    const kept = (await send("GET", "/safe/items/own")).body as unknown as StacItem;
    expect(kept.properties["title"]).toBe("Mine");
    expect(kept.assets["data"]!["rmhdag:path"]).toBe("silver/own.tif");
  });
});

it("readers change nothing", async () => {
  await send("POST", "", collection("closed", "Closed"));
  const requests: [method: string, path: string, body: object | undefined][] = [
    ["POST", "", collection("theirs", "Theirs")],
    ["PATCH", "/closed", { title: "Theirs" }],
    ["DELETE", "/closed", undefined],
    ["POST", "/closed/items", itemOf("closed", "theirs")],
  ];
  for (const [method, path, body] of requests) {
    expect((await send(method, path, body, tokens.reader)).status).toBe(403);
  }
  expect((await send("GET", "/closed")).body).toMatchObject({ title: "Closed" });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  upsertCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
import { assetHref } from "../../src/core/catalogue/raster-item.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import type { ApiTest } from "../support/api.ts";
import { operators } from "../../src/core/catalogue/owner.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { collectionOf, itemOf } from "../support/stac.ts";

interface Link {
  readonly rel: string;
  readonly href: string;
  readonly method?: string;
  readonly body?: object;
}
interface Page {
  readonly features: StacItem[];
  readonly links: Link[];
  readonly numberMatched?: number;
  readonly numberReturned: number;
}

let test: ApiTest;
beforeAll(async () => {
  test = await openApiTest();
  const { db } = test.database;
  for (const id of ["alps", "pacific"]) await upsertCollection(db, collectionOf(id), operators);
  await upsertItems(
    db,
    "alps",
    Array.from({ length: 25 }, (_, index) =>
      itemOf("alps", `scene-${String(index).padStart(2, "0")}`, {
        bbox: [5 + index / 10, 45, 5.05 + index / 10, 46],
        datetime: `2020-01-${String(index + 1).padStart(2, "0")}T00:00:00Z`,
        properties: {
          "eo:cloud_cover": index,
          ...(index % 2 === 0 ? { platform: "Sentinel_2A" } : {}),
        },
      }),
    ),
    operators,
  );
  const path = "silver/fiji.tif";
  await test.storage.put(path, new TextEncoder().encode("0123456789"));
  const data = {
    href: assetHref("pacific", "fiji", "data"),
    type: "image/tiff; application=geotiff; profile=cloud-optimized",
    "rmhdag:path": path,
  };
  const gone = { href: assetHref("pacific", "fiji", "gone"), "rmhdag:path": "silver/gone.tif" };
  await upsertItems(
    db,
    "pacific",
    [
      itemOf("pacific", "fiji", {
        bbox: [178, -20, -177, -15],
        properties: {
          datetime: null,
          start_datetime: "2019-01-01T00:00:00Z",
          end_datetime: "2021-01-01T00:00:00Z",
        },
        assets: { data, gone },
      }),
    ],
    operators,
  );
});
afterAll(() => test.close());

const headers = { authorization: `Bearer ${tokens.reader}` };
const get = (path: string, more: Record<string, string> = {}) =>
  fetch(`${test.baseUrl}${path}`, { headers: { ...headers, ...more } });
const json = async (path: string) => (await (await get(path)).json()) as Page;
const post = async (body: object) => {
  const answer = await fetch(`${test.baseUrl}/stac/search`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, page: (await answer.json()) as Page & { code?: string } };
};
const ids = ({ features }: Page) => features.map(({ id }) => id);
const linkTo = ({ links }: { links: Link[] }, rel: string) =>
  links.find((link) => link.rel === rel);
const search = async (query: Record<string, string>) =>
  json(`/stac/search?${new URLSearchParams(query).toString()}`);

describe("the landing page", () => {
  it("says what the catalogue can do and leads to everything", async () => {
    const answer = await get("/stac");
    const landing = (await answer.json()) as {
      type: string;
      conformsTo: string[];
      links: Link[];
    };
    expect(landing.type).toBe("Catalog");
    expect(landing.conformsTo).toContain("https://api.stacspec.org/v1.0.0/item-search#filter");
    for (const rel of ["root", "self", "service-desc", "conformance", "data", "search", "child"]) {
      const link = linkTo(landing, rel);
      expect(link?.href.startsWith(test.baseUrl), rel).toBe(true);
      expect((await get(link!.href.slice(test.baseUrl.length))).status, rel).toBe(200);
    }
  });

  it("shows those without a token nothing that was not made public", async () => {
    const answer = await fetch(`${test.baseUrl}/stac`);
    expect(linkTo((await answer.json()) as { links: Link[] }, "child")).toBeUndefined();
    const found = (await (await fetch(`${test.baseUrl}/stac/search`)).json()) as Page;
    expect([found.numberReturned, found.numberMatched]).toEqual([0, 0]);
    expect((await fetch(`${test.baseUrl}/stac/collections/alps`)).status).toBe(401);
  });

  it("links to the proxy that the request came through", async () => {
    const answer = await get("/stac", {
      "x-forwarded-host": "data.example.org",
      "x-forwarded-proto": "https",
    });
    const landing = (await answer.json()) as { links: Link[] };
    expect(linkTo(landing, "self")?.href).toBe("https://data.example.org/stac");
  });
});

describe("collections", () => {
  it("are listed page by page", async () => {
    const first = (await (await get("/stac/collections?limit=1")).json()) as {
      collections: { id: string }[];
      links: Link[];
    };
    expect(first.collections.map(({ id }) => id)).toEqual(["alps"]);
    const next = linkTo(first, "next")!.href.slice(test.baseUrl.length);
    const second = (await (await get(next)).json()) as typeof first;
    expect(second.collections.map(({ id }) => id)).toEqual(["pacific"]);
    expect(linkTo(second, "next")).toBeUndefined();
  });

  it("are found by space, time and words", async () => {
    const found = async (query: Record<string, string>) => {
      const answer = await get(`/stac/collections?${new URLSearchParams(query).toString()}`);
      expect(answer.status).toBe(200);
      const { collections } = (await answer.json()) as { collections: { id: string }[] };
      return collections.map(({ id }) => id);
    };
    expect(await found({ bbox: "5,45,12,48" })).toEqual(["alps"]);
    expect(await found({ q: "PACIFIC" })).toEqual(["pacific"]);
    expect(await found({ q: "alps,pacific", limit: "5000" })).toEqual(["alps", "pacific"]);
    expect(await found({ datetime: "1900-01-01T00:00:00Z/1901-01-01T00:00:00Z" })).toEqual([]);
    // pystac-client's collection_search sends the parameters of every extension.
    expect(await found({ q: "alps", fields: "id", sortby: "id", colour: "red" })).toEqual(["alps"]);
  });

  it("say what they cover", async () => {
    const pacific = (await (await get("/stac/collections/pacific")).json()) as {
      extent: object;
    };
    expect(pacific.extent).toEqual({
      spatial: { bbox: [[178, -20, -177, -15]] },
      temporal: { interval: [["2019-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]] },
    });
    expect((await get("/stac/collections/none")).status).toBe(404);
    expect((await get("/stac/collections/none/items")).status).toBe(404);
  });

  it("name the properties that they can be filtered by", async () => {
    const queryables = (await (await get("/stac/collections/alps/queryables")).json()) as object;
    expect(queryables).toMatchObject({
      properties: { "eo:cloud_cover": { type: "number" }, platform: { type: "string" } },
    });
  });

  it("give their items as GeoJSON, the newest first", async () => {
    const answer = await get("/stac/collections/alps/items?limit=2");
    expect(answer.headers.get("content-type")).toBe("application/geo+json; charset=utf-8");
    const page = (await answer.json()) as Page;
    expect(ids(page)).toEqual(["scene-24", "scene-23"]);
    expect(page).toMatchObject({ numberMatched: 25, numberReturned: 2 });
    // As pystac-client asks.
    expect(ids(await json("/stac/collections/alps/items?collections=alps&limit=1"))).toHaveLength(
      1,
    );
    const item = await json("/stac/collections/alps/items/scene-07");
    expect(linkTo(item, "self")?.href).toBe(`${test.baseUrl}/stac/collections/alps/items/scene-07`);
  });
});

describe("a search", () => {
  it("walks through all items, each of them once, by addresses and by bodies", async () => {
    const seen: string[] = [];
    let next: string | undefined = "/stac/search?limit=7&sortby=-properties.eo:cloud_cover";
    while (next !== undefined) {
      const page: Page = await json(next);
      seen.push(...ids(page));
      next = linkTo(page, "next")?.href.slice(test.baseUrl.length);
    }
    expect(seen).toHaveLength(26);
    expect(new Set(seen).size).toBe(26);
    expect(seen.at(-1)).toBe("fiji");

    let body: object | undefined = { limit: 10, collections: ["alps"] };
    const posted: string[] = [];
    while (body !== undefined) {
      const { page } = await post(body);
      posted.push(...ids(page));
      body = linkTo(page, "next")?.body;
    }
    expect(posted).toHaveLength(25);
  });

  it.each<[string, Record<string, string>, number]>([
    ["a box", { bbox: "5,45,5.1,46" }, 2],
    ["a box with heights", { bbox: "5,45,0,5.1,46,100" }, 2],
    ["a box across the antimeridian", { bbox: "179,-18,-179,-16" }, 1],
    ["a box east of it", { bbox: "-178,-18,-176,-16" }, 1],
    ["a box that is too far west", { bbox: "170,-18,177,-16" }, 0],
    ["a moment", { datetime: "2020-01-05T00:00:00Z" }, 2],
    ["a span", { datetime: "2020-01-05T00:00:00Z/2020-01-06T12:00:00Z" }, 3],
    ["a span that is open", { datetime: "2020-01-25T00:00:00Z/.." }, 2],
    ["collections", { collections: "pacific,none" }, 1],
    ["ids", { ids: "scene-01,fiji,none" }, 2],
    ["a query", { query: '{"eo:cloud_cover": {"lt": 3}}' }, 3],
    ["a filter", { filter: "eo:cloud_cover >= 20 AND platform = 'Sentinel_2A'" }, 3],
    ["a filter of what is missing", { filter: "platform IS NULL AND collection = 'alps'" }, 12],
    ["a negation, which what is missing does not meet", { filter: "NOT eo:cloud_cover < 20" }, 5],
    ["a pattern without case", { filter: "CASEI(platform) LIKE 'sentinel\\_2%'" }, 13],
    ["a list", { filter: "id IN ('scene-03', 'scene-04')" }, 2],
    ["a range with arithmetic", { filter: "eo:cloud_cover * 2 BETWEEN 4 AND 8" }, 3],
    ["a number in a text", { filter: "platform > 5" }, 0],
    ["times", { filter: "datetime < TIMESTAMP('2020-01-03T00:00:00Z')" }, 3],
    ["spans", { filter: "T_DURING(datetime, INTERVAL('2020-01-01', '2020-01-03'))" }, 2],
    [
      "both forms",
      { filter: '{"op":"=","args":[{"property":"eo:cloud_cover"},7]}', "filter-lang": "cql2-json" },
      1,
    ],
    ["a division by zero", { filter: "1 / 0 = 5" }, 0],
  ])("by %s", async (_name, query, expected) => {
    const page = await search({ limit: "100", ...query });
    expect(page.numberReturned).toBe(expected);
    expect(page.numberMatched).toBe(expected);
  });

  it("meets the geometry itself and not only its box", async () => {
    const triangle = {
      type: "Polygon",
      coordinates: [
        [
          [5, 45],
          [7.5, 45],
          [5, 45.5],
          [5, 45],
        ],
      ],
    };
    const { page } = await post({ limit: 100, intersects: triangle });
    expect(page.numberReturned).toBe(25);
    const low = {
      ...triangle,
      coordinates: [
        [
          [5, 40],
          [7.5, 40],
          [5, 45.5],
          [5, 40],
        ],
      ],
    };
    const met = (await post({ limit: 100, intersects: low })).page;
    expect(met.numberReturned).toBe(3);
    const paged = (await post({ limit: 2, intersects: low })).page;
    expect(paged.numberReturned).toBe(2);
    const rest = (await post(linkTo(paged, "next")!.body!)).page;
    expect([...ids(paged), ...ids(rest)].toSorted()).toEqual(ids(met).toSorted());
    expect(linkTo(rest, "next")).toBeUndefined();
    const text =
      "S_INTERSECTS(geometry, POLYGON((5 40, 7.5 40, 5 45.5, 5 40))) AND eo:cloud_cover > 0";
    expect((await search({ filter: text })).numberReturned).toBe(2);
  });

  // The triangle meets the first three of the scenes, and the boxes of all of them.
  it.each<[string, string, string[]]>([
    ["or", "id = 'scene-20' OR {}", ["scene-00", "scene-01", "scene-02", "scene-20"]],
    ["and or", "eo:cloud_cover > 1 AND (id = 'fiji' OR {})", ["scene-02"]],
    ["not", "eo:cloud_cover < 5 AND NOT {}", ["scene-03", "scene-04"]],
    ["not or", "NOT ({} OR eo:cloud_cover > 4)", ["scene-03", "scene-04"]],
    [
      "not and, where what is missing is unknown",
      "NOT ({} AND platform = 'Sentinel_2A') AND eo:cloud_cover < 3",
      [],
    ],
    ["twice", "{} AND S_INTERSECTS(geometry, POINT(5.02 45.1))", ["scene-00"]],
    [
      "a box of its own",
      "S_INTERSECTS(geometry, BBOX(179, -18, 180, -16)) OR id = 'scene-09'",
      ["fiji", "scene-09"],
    ],
  ])("meets geometries below %s", async (_name, text, expected) => {
    const triangle = "S_INTERSECTS(geometry, POLYGON((5 40, 7.5 40, 5 45.5, 5 40)))";
    const filter = text.replace("{}", triangle);
    const page = await search({ filter, sortby: "id", limit: "100" });
    expect(ids(page)).toEqual(expected);
    const seen: string[] = [];
    let next: string | undefined =
      `/stac/search?${new URLSearchParams({ filter, limit: "1", sortby: "id" }).toString()}`;
    while (next !== undefined) {
      const one: Page = await json(next);
      seen.push(...ids(one));
      next = linkTo(one, "next")?.href.slice(test.baseUrl.length);
    }
    expect(seen).toEqual(expected);
  });

  it("gives only the fields that are asked for", async () => {
    const page = await search({
      ids: "scene-01",
      fields: "properties.eo:cloud_cover,geometry.type",
    });
    expect(page.features).toEqual([
      {
        type: "Feature",
        stac_version: "1.1.0",
        id: "scene-01",
        collection: "alps",
        geometry: { type: "Polygon" },
        properties: { "eo:cloud_cover": 1 },
      },
    ]);
    const { page: without } = await post({
      ids: ["scene-01"],
      fields: { exclude: ["geometry", "links"] },
    });
    expect(Object.keys(without.features[0]!)).not.toContain("geometry");
    expect(without.features[0]!.properties).toMatchObject({ "eo:cloud_cover": 1 });
    const fields = { exclude: ["geometry"], include: [] };
    const { page: few } = await post({ ids: ["scene-01"], fields });
    expect(Object.keys(few.features[0]!)).toEqual(expect.arrayContaining(["id", "bbox", "assets"]));
    expect(Object.keys(few.features[0]!)).not.toContain("geometry");
    expect(few.features[0]!.properties).not.toHaveProperty("eo:cloud_cover");
  });

  it.each<[string, Record<string, string>, string]>([
    ["bbox", { bbox: "1,2,3" }, "BAD_REQUEST"],
    ["bbox", { bbox: "0,50,1,40" }, "BAD_REQUEST"],
    ["bbox", { bbox: "a,b,c,d" }, "BAD_REQUEST"],
    ["datetime", { datetime: "yesterday" }, "BAD_REQUEST"],
    ["datetime", { datetime: "2021-01-01T00:00:00Z/2020-01-01T00:00:00Z" }, "BAD_REQUEST"],
    ["limit", { limit: "0" }, "BAD_REQUEST"],
    ["token", { token: "nonsense" }, "BAD_REQUEST"],
    ["token", { token: Buffer.from('["a","b","c"]').toString("base64url") }, "BAD_REQUEST"],
    ["filter", { filter: "NOT S_INTERSECTS(footprint, POINT(1 2))" }, "INVALID_FILTER"],
    ["intersects", { intersects: '{"type":"Circle"}' }, "BAD_REQUEST"],
    ["intersects", { intersects: "{" }, "BAD_REQUEST"],
    ["filter", { filter: "eo:cloud_cover <" }, "INVALID_FILTER"],
    ["filter", { filter: "id = 5" }, "INVALID_FILTER"],
    ["filter", { filter: "id = 1; DROP TABLE x" }, "INVALID_FILTER"],
    ["query", { query: '{"a":{"like":"b"}}' }, "INVALID_FILTER"],
  ])("refuses a wrong %s: %j", async (_name, query, code) => {
    const answer = await get(`/stac/search?${new URLSearchParams(query).toString()}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(await answer.json()).toMatchObject({ code });
  });

  it("ignores parameters that it does not know, and gives at most 10,000 items", async () => {
    const answer = await get("/stac/search?colour=red&limit=1000000");
    expect(answer.status).toBe(200);
    const { status } = await post({ limit: 1_000_000, colour: "red" });
    expect(status).toBe(200);
  });

  it("takes names and values as nothing but names and values", async () => {
    for (const property of ["x'); DROP TABLE dagapp.stac_items; --", "$1", "a.b", "__proto__"]) {
      const filter = { op: "=", args: [{ property }, "' OR true --"] };
      const { status, page } = await post({ filter });
      expect([status, page.numberReturned]).toEqual([200, 0]);
    }
    expect((await search({})).numberMatched).toBe(26);
  });
});

describe("a file of an item", () => {
  const address = "/stac/collections/pacific/items/fiji/assets";

  it("is served whole, in parts, and not again when it is the same", async () => {
    const whole = await get(`${address}/data`);
    expect(await whole.text()).toBe("0123456789");
    expect(whole.headers.get("content-type")).toBe(
      "image/tiff; application=geotiff; profile=cloud-optimized",
    );
    const part = await get(`${address}/data`, { range: "bytes=2-4" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 2-4/10"]);
    expect(await part.text()).toBe("234");
    const same = await get(`${address}/data`, { "if-none-match": whole.headers.get("etag")! });
    expect(same.status).toBe(304);
    const beyond = await get(`${address}/data`, { range: "bytes=20-" });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, "bytes */10"]);
    const head = await fetch(`${test.baseUrl}${address}/data`, { method: "HEAD", headers });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "10"]);
  });

  it("is not found when the item has none, or when it is lost", async () => {
    expect((await get(`${address}/none`)).status).toBe(404);
    expect((await get(`${address}/constructor`)).status).toBe(404);
    expect((await get(`${address}/gone`)).status).toBe(404);
    expect((await get("/stac/collections/pacific/items/none/assets/data")).status).toBe(404);
  });
});

describe("a search as stac-api-validator sends it", () => {
  it("has one collection as a text, fields of null, and the bounds of between as a list", async () => {
    const one = await post({ collections: "alps", limit: 2 });
    expect([one.status, one.page.numberMatched]).toEqual([200, 25]);
    const nulls = await post({ ids: ["fiji"], fields: { include: null, exclude: null } });
    expect([nulls.status, ids(nulls.page)]).toEqual([200, ["fiji"]]);
    const args = [{ property: "eo:cloud_cover" }, [3, 5]];
    const between = await post({ "filter-lang": "cql2-json", filter: { op: "between", args } });
    expect(ids(between.page)).toEqual(["scene-05", "scene-04", "scene-03"]);
  });

  it("gets a field that is both included and excluded, and a part of an excluded one", async () => {
    const both = await search({ ids: "scene-03", fields: "+geometry,-geometry" });
    expect(both.features[0]).toHaveProperty("geometry");
    const part = await search({
      ids: "scene-03",
      fields: "-properties,+properties.eo:cloud_cover",
    });
    expect(part.features[0]?.properties).toEqual({ "eo:cloud_cover": 3 });
    const less = await search({ ids: "scene-03", fields: "properties,-properties.datetime" });
    expect(less.features[0]?.properties).toEqual({ "eo:cloud_cover": 3 });
  });
});

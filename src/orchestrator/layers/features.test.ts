import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import type { TestDatabase } from "../../../test/support/database.ts";
import { describeForms } from "../../../test/support/postgis.ts";
import { loadSquares } from "../../../test/support/squares-table.ts";
import { readTile } from "../../../test/support/read-tile.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { HttpServer } from "../../adapters/http/server.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { openTileDatabase } from "../../adapters/postgres/hot-database.ts";
import { buildServer } from "../../adapters/http/server.ts";
import { createAccessPolicy, hashToken } from "../../adapters/http/tokens.ts";
import { featureContracts } from "../../core/api/features.ts";
import type { VectorLayer } from "../../core/serving/layer.ts";
import type { GeoColumn, GeometryForm } from "../../core/vector/geo-table.ts";
import { createFeatureAnswers } from "./feature-answers.ts";

const contracts = featureContracts("Test", "/features/{id}", {
  params: { id: z.string() },
  query: { version: z.string().optional() },
  access: "read",
});
const layer: VectorLayer = {
  kind: "vector",
  table: "squares",
  title: "Squares",
  bounds: [-180, -50, 180, 50],
  style: null,
  version_tag: "1",
};
const columns: GeoColumn[] = [
  { name: "name", type: "text", source: "Name" },
  { name: "size", type: "integer", source: "size" },
  { name: "large", type: "bigint", source: "large" },
  { name: "ratio", type: "double precision", source: "ratio" },
  { name: "seen", type: "timestamptz", source: "seen" },
  { name: "day", type: "date", source: "day" },
  { name: "tags", type: "text[]", source: "tags" },
  { name: "parts", type: "jsonb", source: "parts" },
];

const handlers = (given: Handlers<typeof contracts>): Handlers<typeof contracts> => given;

/** Ten squares of one degree along the equator, and one on the other side of the world. */
const rows = Array.from({ length: 11 }, (_, index) => ({
  west: index < 10 ? index * 2 : -179,
  attributes: [
    index === 3 ? 'O\'Brien "é", 3' : `square ${index}`,
    String(index),
    "9007199254740993",
    index === 4 ? "NaN" : String(index / 2),
    `2024-0${(index % 9) + 1}-01 12:00:00${index === 4 ? ".123456" : ""}+00`,
    "2024-01-31",
    "{a,b}",
    '{"ids":[9007199254740993,-18446744073709551615,7],"text":"1234567890123456789 \\\\"x","n":1.5}',
  ].join("\t"),
}));

describeForms("features", ({ form, create }) => {
  let database: TestDatabase;
  let server: HttpServer;
  let tileDb: Database;

  beforeAll(async () => {
    database = await create();
    await load(database, form, "one");
    tileDb = openTileDatabase({ url: database.url, applicationName: "tiles" });
    const features = createFeatureAnswers(database.db, tileDb);
    const base = "/features/squares";
    server = await buildServer({
      contracts,
      handlers: handlers({
        getTestFeatures: async (request) =>
          features.collection(layer, { base, id: "squares" }, request),
        listTestTileSets: async (request) => features.tileSets(layer, base, request),
        getTestTileSet: async (request) => features.tileSet(layer, base, request),
        getTestQueryables: async (request) => features.queryables(layer, base, request),
        listTestFeatures: async (request) => features.items(layer, base, request, ["version"]),
        getTestFeature: async (request) => features.item(layer, request.params.feature_id, request),
        getTestFeatureTile: async (request) => features.tile(layer, request.params, request),
        getTestFeatureTileJson: async (request) => features.tileJson(layer, base, request),
      }),
      access: createAccessPolicy([{ name: "t", sha256: hashToken("t"), access: ["read"] }]),
      log: {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: () => undefined,
      },
      checkAnswers: true,
    });
  });
  afterAll(async () => {
    await server.close();
    await tileDb.close();
    await database.drop();
  });

  const ask = (path: string, headers: Record<string, string> = {}) =>
    server.inject({
      url: `/features/squares${path}`,
      headers: { authorization: "Bearer t", host: "example.org", ...headers },
    });
  async function names(query: string): Promise<string[]> {
    const answer = await ask(`/items?${query}`);
    expect(answer.statusCode, answer.body).toBe(200);
    return answer
      .json<{ features: { properties: { name: string } }[] }>()
      .features.map((each) => each.properties.name);
  }
  const squares = (...numbers: number[]) =>
    numbers.map((number) => rows[number]!.attributes.split("\t")[0]);

  it("are pages of GeoJSON, with links to the next", async () => {
    const answer = await ask("/items?limit=4");
    expect(answer.headers["content-type"]).toContain("application/geo+json");
    const page = answer.json<{
      numberMatched: number;
      features: unknown[];
      links: { rel: string; href: string }[];
    }>();
    expect(page).toMatchObject({ type: "FeatureCollection", numberMatched: 11, numberReturned: 4 });
    expect(page.features[0]).toEqual({
      type: "Feature",
      id: 1,
      geometry: {
        type: "MultiPolygon",
        coordinates: [
          [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 1],
              [0, 0],
            ],
          ],
        ],
      },
      properties: {
        name: "square 0",
        size: 0,
        large: "9007199254740993",
        ratio: 0,
        seen: "2024-01-01T12:00:00.000Z",
        day: "2024-01-31",
        tags: ["a", "b"],
        // Integers that JavaScript rounds are texts, in a list as in a column.
        parts: {
          ids: ["9007199254740993", "-18446744073709551615", 7],
          text: '1234567890123456789 "x',
          n: 1.5,
        },
      },
    });
    const next = page.links.find((link) => link.rel === "next")!.href;
    expect(next.startsWith("http://example.org/features/squares/items?")).toBe(true);
    expect(await names(new URL(next).search.slice(1))).toEqual(squares(4, 5, 6, 7));
  });

  it.each<[string, number[]]>([
    ["bbox=3.5,0,5,1", [2]],
    ["bbox=2.5,-1,6.5,2", [1, 2, 3]],
    ["bbox=178,0,1,1", [0, 10]],
    ["ids=2,5", [1, 4]],
    ["size=7", [7]],
    ["name=square%201", [1]],
    ["version=latest&size=1", [1]],
    ["filter=size>7 AND NOT size=9", [8, 10]],
    ["filter=name LIKE 'square%25' AND size BETWEEN 1 AND 2", [1, 2]],
    ["filter=CASEI(name) = CASEI('SQUARE 2')", [2]],
    ["filter=size IN (1,4) OR ratio * 2 = 6", [1, 4, 6]],
    ["filter=name = 'O''Brien \"é\", 3'", [3]],
    ["filter=T_AFTER(seen, TIMESTAMP('2024-08-01T00:00:00Z'))", [7, 8]],
    ["filter=S_INTERSECTS(geom, POLYGON((0.2 0.2, 2.5 0.2, 2.5 0.8, 0.2 0.8, 0.2 0.2)))", [0, 1]],
    // A triangle that meets the boxes of the first three squares, and the first two themselves.
    ["filter=S_INTERSECTS(geom, POLYGON((0 0, 4.5 -9, 0 2, 0 0)))", [0]],
    ["filter=size < 4 AND NOT S_INTERSECTS(geom, POLYGON((0 0, 4.5 -9, 0 2, 0 0)))", [1, 2, 3]],
    ["filter=size = 9 OR S_INTERSECTS(geometry, POLYGON((0 0, 4.5 -9, 0 2, 0 0)))", [0, 9]],
    ["filter=NOT (size > 1 OR S_INTERSECTS(geom, POINT(0.5 0.5)))", [1]],
    [`filter-lang=cql2-json&filter={"op":"<","args":[{"property":"size"},2]}`, [0, 1]],
    ["datetime=2024-02-01T00:00:00Z/2024-02-28T00:00:00Z", [1, 10]],
    ["sortby=-size&limit=2", [10, 9]],
  ])("are found by %s", async (query, expected) => {
    const encoded = query
      .replaceAll(/[ "'{}<>]/g, (sign) => encodeURIComponent(sign))
      .replaceAll("+", "%2B");
    expect(await names(`limit=20&${encoded}`.replace("limit=20&sortby", "sortby"))).toEqual(
      squares(...expected),
    );
  });

  it.each([
    ["nothing=1", "BAD_REQUEST"],
    ["bbox=1,2,3", "BAD_REQUEST"],
    ["limit=0", "BAD_REQUEST"],
    ["size=many", "BAD_REQUEST"],
    ["sortby=geom", "BAD_REQUEST"],
    ["properties=name,secret", "BAD_REQUEST"],
    ["constructor=1", "BAD_REQUEST"],
    ["size=1&size=2", "BAD_REQUEST"],
    ["offset=4", "BAD_REQUEST"],
    ["token=nonsense", "BAD_REQUEST"],
    [`token=${Buffer.from('["many"]').toString("base64url")}`, "BAD_REQUEST"],
    ["filter=secret%3D1", "INVALID_FILTER"],
    ["filter=NOT%20S_INTERSECTS(name,%20POINT(1%202))", "INVALID_FILTER"],
    ["filter=name%3D1", "INVALID_FILTER"],
    ["filter=name%20LIKE", "INVALID_FILTER"],
    ["filter=size%20%3D%20'1'%3B%20DROP%20TABLE%20geo.squares", "INVALID_FILTER"],
  ])("are refused with a code for %s", async (query, code) => {
    const answer = await ask(`/items?${query}`);
    expect(answer.json()).toMatchObject({ status: 400, code });
  });

  /** All names, page by page; what is given is called between two pages. */
  async function walk(query: string, between: () => Promise<void> = async () => undefined) {
    const pages: (string | undefined)[][] = [];
    let path: string | undefined = `/items?${query}`;
    while (path !== undefined) {
      const answer = await ask(path);
      const page = answer.json<{
        features: { properties: { name: string } }[];
        links: { rel: string; href: string }[];
      }>();
      pages.push(page.features.map((each) => each.properties.name));
      const next = page.links.find((link) => link.rel === "next");
      path = next && `/items${new URL(next.href).search}`;
      await between();
    }
    return pages;
  }

  it.each<[string, number[]]>([
    ["limit=3", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ["limit=3&sortby=-id", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ["limit=2&sortby=large,-size", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ["limit=2&sortby=day,-seen", [8, 7, 6, 5, 4, 3, 2, 1, 10, 0, 9]],
    // No number is greater than every number.
    ["limit=4&sortby=ratio", [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 4]],
    ["limit=1&filter=NOT S_INTERSECTS(geom, BBOX(0,0,15,1))", [8, 9, 10]],
  ])("are walked through by %s, each of them once", async (query, expected) => {
    const pages = await walk(query.replaceAll(" ", "%20"));
    expect(pages.flat()).toEqual(squares(...expected));
  });

  it("stay in their places when others arrive meanwhile", async () => {
    const table = "geo.squares";
    await database.db.query(`UPDATE ${table} SET size = NULL WHERE fid IN (2, 7)`);
    let arrived = 0;
    const pages = await walk("limit=2&sortby=size", async () => {
      arrived += 1;
      const fid = -arrived;
      await database.db.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(one, jsonb_build_object('fid', $1::int, 'size', -1))).*
         FROM ${table} AS one WHERE fid = 1`,
        [fid],
      );
    });
    // Those without a size come last.
    expect(pages.flat()).toEqual(squares(0, 2, 3, 4, 5, 7, 8, 9, 10, 1, 6));
    await load(database, form, "one again");
  });

  it("name the next page in a header too, which CSV has no other place for", async () => {
    const answer = await ask("/items?f=csv&limit=2");
    const next = /^<(.+)>; rel="next"$/.exec(String(answer.headers.link))![1]!;
    const second = await ask(`/items${new URL(next).search}`);
    expect(second.body).toContain("square 2");
    expect(second.body).not.toContain("square 1,");
  });

  it("are CSV where that is asked for, with the columns that are wanted", async () => {
    const answer = await ask("/items?f=csv&properties=name&ids=4");
    expect(answer.headers["content-type"]).toContain("text/csv");
    expect(answer.body).toBe(
      'fid,name,geom\r\n4,"O\'Brien ""é"", 3","MULTIPOLYGON (((6 0, 7 0, 7 1, 6 1, 6 0)))"\r\n',
    );
  });

  it("are found one by one, and a number that is none is null", async () => {
    const properties = { ratio: null, seen: "2024-05-01T12:00:00.123456Z" };
    expect((await ask("/items/5")).json()).toMatchObject({ id: 5, properties });
    expect((await ask("/items?f=csv&properties=ratio&ids=5")).body).toContain("\r\n5,,");
    expect((await ask("/items/500")).json()).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  it("are described: collection, queryables, tiles", async () => {
    expect((await ask("")).json()).toMatchObject({
      title: "Squares",
      itemType: "feature",
      numberMatched: 11,
      extent: { spatial: { bbox: [[-180, -50, 180, 50]] } },
    });
    expect((await ask("/queryables")).json()).toMatchObject({
      properties: { size: { type: "integer" }, seen: { format: "date-time" } },
    });
    expect((await ask("/tiles/WebMercatorQuad/tilejson.json")).json()).toMatchObject({
      tilejson: "3.0.0",
      tiles: ["http://example.org/features/squares/tiles/WebMercatorQuad/{z}/{x}/{y}"],
      vector_layers: [{ id: "default", fields: { name: "text" } }],
    });
  });

  it("are vector tiles, the same with either encoder", async () => {
    const answer = await ask("/tiles/WebMercatorQuad/3/4/3", { "accept-encoding": "gzip" });
    expect(answer.headers["content-type"]).toBe("application/vnd.mapbox-vector-tile");
    const bytes =
      answer.headers["content-encoding"] === "gzip"
        ? gunzipSync(answer.rawPayload)
        : answer.rawPayload;
    const tile = readTile(bytes);
    expect(Object.keys(tile)).toEqual(["default"]);
    const { extent, features } = tile["default"]!;
    expect(extent).toBe(4096);
    expect(features.map((feature) => feature.id).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    const second = features.find((feature) => feature.id === 2)!;
    expect(second).toMatchObject({ type: 3, properties: { name: "square 1", size: 1 } });
    const xs = second.points.map(([x]) => x);
    // Two and three degrees of the forty-five that the tile is wide.
    expect([Math.min(...xs), Math.max(...xs)]).toEqual([182, 273]);
  });

  it("are no tile where nothing is, and where there is no tile", async () => {
    expect((await ask("/tiles/WebMercatorQuad/3/1/1.mvt")).statusCode).toBe(204);
    expect((await ask("/tiles/WebMercatorQuad/3/9/1")).json()).toMatchObject({ code: "NOT_FOUND" });
  });

  it("are asked for again in vain until the layer is loaded again", async () => {
    const addresses = ["/items?limit=1", "/items/1", "/tiles/WebMercatorQuad/0/0/0"];
    const tags = await Promise.all(addresses.map(async (path) => (await ask(path)).headers.etag!));
    const again = () =>
      Promise.all(
        addresses.map(
          async (path, index) => (await ask(path, { "if-none-match": tags[index]! })).statusCode,
        ),
      );
    expect(await again()).toEqual([304, 304, 304]);
    await load(database, form, "two");
    expect(await again()).toEqual([200, 200, 200]);
  });
});

async function load(database: TestDatabase, form: GeometryForm, load_id: string): Promise<void> {
  await loadSquares(database.db, { table_name: "squares", form, load_id, columns, rows });
}

/**
 * Vector files through the real workflow, good, repairable and hostile: each job says in plain words
 * what was found, with a remedy. What becomes of each fixture is tested beside the handlers, in
 * load.test.ts.
 */
import { copyFile, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { hasGdal } from "../support/gdal.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import type { Orchestrator } from "../support/programs.ts";
import { packZip } from "../support/zip.ts";

const slow = 240_000;
let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly count: number;
}

beforeAll(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url);
  orchestrator = await fleet.orchestrator();
  await fleet.worker({ WORKER_CONCURRENCY: "3" });
  const bronze = path.join(fleet.dataDirectory, "storage/bronze");
  await mkdir(bronze, { recursive: true });
  for (const folder of ["vector", "vector/antimeridian"]) {
    for (const entry of await readdir(fixture(folder), { withFileTypes: true })) {
      if (!entry.isFile()) continue;
      await copyFile(path.join(fixture(folder), entry.name), path.join(bronze, entry.name));
    }
  }
  const columns = Array.from({ length: 10_000 }, (_, index) => `c${index}`);
  await writeFile(path.join(bronze, "wide.csv"), `lon,lat,${columns.join(",")}\n1,2\n`);
  const zeros = Buffer.alloc(8 * 1024 * 1024);
  await writeFile(path.join(bronze, "bomb.zip"), packZip({ name: "a.shp", content: zeros }));
  await writeFile(path.join(bronze, "climbs.zip"), packZip({ name: "../a.geojson" }));
  await writeFile(path.join(fleet.dataDirectory, "secret.geojson"), '{"type":"Point"}');
  await symlink(
    path.join(fleet.dataDirectory, "secret.geojson"),
    path.join(bronze, "linked.geojson"),
  );
}, slow);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
});

async function load(blob_path: string, inputs: JsonObject = {}) {
  const id = await submit(orchestrator, "vector_etl", { blob_path, ...inputs });
  return finished(orchestrator, id, slow);
}

describe.skipIf(!hasGdal)("vector_etl (needs GDAL)", () => {
  it(
    "makes a layer of what is good or can be put right, and counts what it found",
    async () => {
      const degrees = { source_crs: "EPSG:4326" };
      const expected: [string, JsonObject, number, Record<string, number>][] = [
        ["countries_110m.shp", {}, 177, {}],
        ["mixed_types.geojson", {}, 3, { GEOMETRY_TYPES_SPLIT: 3 }],
        [
          "one_invalid_polygon.shp",
          { source_crs: "EPSG:32632" },
          14,
          { GEOMETRY_REPAIRED: 1, CRS_ASSIGNED: 1 },
        ],
        ["points_zm.shp", degrees, 1, { DIMENSIONS_REDUCED: 1 }],
        ["null_empty_invalid.geojson", {}, 2, { GEOMETRY_NULL: 22 }],
      ];
      const jobs = await Promise.all(expected.map(([name, inputs]) => load(name, inputs)));
      for (const [index, job] of jobs.entries()) {
        const [name, , count, codes] = expected[index]!;
        expect([name, job.status, job.error]).toEqual([name, "completed", null]);
        const { feature_count, findings } = job.result_data as unknown as {
          feature_count: number;
          findings: Finding[];
        };
        const counted = Object.fromEntries(findings.map((each) => [each.code, each.count]));
        expect({ name, feature_count, ...counted }).toMatchObject({
          name,
          feature_count: count,
          ...codes,
        });
        for (const { message, remedy } of findings) {
          expect(message).toMatch(/^[A-Z\d].+\.$/);
          expect(remedy).toMatch(/^[A-Z].+\.$/);
        }
      }
    },
    slow,
  );

  it(
    "loads every file of an archive as a layer of one job",
    async () => {
      const town = (name: string, place: readonly [number, number]) => ({
        name: `${name}.geojson`,
        content: Buffer.from(
          JSON.stringify({
            type: "Feature",
            properties: { name },
            geometry: { type: "Point", coordinates: place },
          }),
        ),
      });
      const archive = packZip(town("köln", [6.95, 50.94]), town("genève", [6.15, 46.2]));
      const bronze = path.join(fleet.dataDirectory, "storage/bronze");
      await writeFile(path.join(bronze, "towns.zip"), archive);
      const { status, error, result_data } = await load("towns.zip");
      expect([status, error]).toEqual(["completed", null]);
      expect(result_data).toMatchObject({ feature_count: 2 });
      const { rows } = await database.db.query<{ bounds: number[] }>(
        "SELECT bounds FROM dagapp.geo_tables WHERE table_name LIKE 'towns\\_%' ORDER BY bounds",
      );
      expect(rows.map(({ bounds }) => bounds.slice(0, 2))).toEqual([
        [6.15, 46.2],
        [6.95, 50.94],
      ]);
    },
    slow,
  );

  it(
    "cuts what crosses the antimeridian or surrounds a pole as its authors expect",
    async () => {
      const names = ["crossing-latitude", "great-circle", "over-180", "both-poles"];
      const jobs = await Promise.all(names.map((name) => load(`${name}.input.json`)));
      for (const [index, job] of jobs.entries()) {
        const name = names[index]!;
        expect([name, job.status, job.error]).toEqual([name, "completed", null]);
        const { stac_item_id, findings } = job.result_data as unknown as {
          stac_item_id: string;
          findings: Finding[];
        };
        expect(findings.map(({ code }) => code)).toContain("ANTIMERIDIAN_SPLIT");
        const answer = await fetch(
          `${orchestrator.url}/stac/collections/vector/items/${stac_item_id}/features/items`,
        );
        const { features } = (await answer.json()) as { features: { geometry: Shape }[] };
        const text = await readFile(fixture(`vector/antimeridian/${name}.expected.json`), "utf8");
        // Read by its winding this one holds both poles. So many files run the wrong way round that
        // a ring's smaller side counts as its inside, here as with the authors' own default.
        const expected = places(JSON.parse(text) as Shape).filter(
          (place) => name !== "both-poles" || !/ -?90$/.test(place),
        );
        expect([name, places(features[0]!.geometry)]).toEqual([name, expected]);
      }
    },
    slow,
  );

  it(
    "refuses what cannot become a layer, with the reason and what to do",
    async () => {
      const expected: [string, JsonObject, string, RegExp][] = [
        ["no_prj.shp", {}, "CRS_MISSING", /source_crs/],
        [
          "no_prj.shp",
          { source_crs: "EPSG:999999", table_name: "unknown_system" },
          "CRS_UNUSABLE",
          /EPSG:\d+/,
        ],
        ["wide.csv", {}, "TOO_MANY_COLUMNS", /leave out columns/],
        ["bomb.zip", {}, "ZIP_BOMB", /pack the files again/],
        ["climbs.zip", {}, "ZIP_BAD_NAME", /\.\.\/a\.geojson/],
        ["linked.geojson", {}, "BAD_STORAGE_PATH", /is not a path in storage/],
        ["../secret.geojson", {}, "BAD_STORAGE_PATH", /is not a path in storage/],
        ["/etc/passwd.geojson", {}, "BAD_STORAGE_PATH", /is not a path in storage/],
        ["https://example.org/a.geojson", {}, "SOURCE_HOST_NOT_ALLOWED", /example\.org/],
      ];
      const jobs = await Promise.all(expected.map(([name, inputs]) => load(name, inputs)));
      for (const [index, job] of jobs.entries()) {
        const [name, , code, remedy] = expected[index]!;
        expect([name, job.status, job.error?.code]).toEqual([name, "failed", code]);
        expect(job.error?.message).toMatch(remedy);
        expect(job.result_data).toBeNull();
      }
      // Nothing of them is left: no table, no item.
      const { rows } = await database.db.query(
        `SELECT FROM dagapp.geo_tables WHERE table_name IN ('wide', 'bomb', 'unknown_system')`,
      );
      expect(rows).toEqual([]);
    },
    slow,
  );
});

interface Shape {
  readonly type: string;
  readonly coordinates: unknown;
}

/** The corners, to seven digits: where a ring begins and which polygon is first means nothing. */
function places({ coordinates }: Shape): string[] {
  const pairs: string[] = [];
  const walk = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    if (typeof value[0] === "number") {
      pairs.push(value.map((each: number) => String(Number(each.toFixed(7)))).join(" "));
    } else value.forEach(walk);
  };
  walk(coordinates);
  return [...new Set(pairs)].toSorted();
}

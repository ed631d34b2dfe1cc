import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rasterAttacks, vectorAttacks } from "../../../test/support/attack-files.ts";
import { fixture } from "../../../test/support/fixtures.ts";
import { writeSqlite } from "../../../test/support/sqlite-file.ts";
import { createGdal } from "../gdal/create-gdal.ts";
import { checkRasterFile } from "./check-raster-file.ts";
import { checkVectorFile } from "./check-vector-file.ts";
import { readSqliteSchema } from "./read-sqlite-schema.ts";
import { withFile } from "../cog/byte-source.ts";

const canary = { file: "/etc/canary", url: "http://127.0.0.1:9" };
const { signal } = new AbortController();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-files-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, content: string | Uint8Array): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  return file;
}

describe("a raster", () => {
  it.each(rasterAttacks(canary).map((attack) => [attack.name, attack] as const))(
    "that is the attack %s is seen through",
    async (name, { files, code }) => {
      const [content = ""] = Object.values(files);
      const { driver, problem } = await checkRasterFile(await write(name, content));
      const found = driver === undefined ? "INVALID_FORMAT" : problem?.code;
      // The files beside it are read, or left, by the handler.
      expect(found).toBe(code === "SIDECAR_INVALID" ? undefined : code);
    },
  );

  it("of others is taken", async () => {
    for (const name of await readdir(fixture("raster"))) {
      const checked = await checkRasterFile(fixture(`raster/${name}`));
      expect([name, checked]).toEqual([
        name,
        { content: "GeoTIFF", driver: "GTiff", problem: undefined },
      ]);
    }
  });

  it("of the formats that GDAL writes is taken", async () => {
    const gdal = await createGdal();
    const written = [
      ["HFA", "Erdas Imagine"],
      ["PNG", "PNG"],
      ["JPEG", "JPEG"],
      ["JP2OpenJPEG", "JPEG 2000"],
    ] as const;
    for (const [driver, content] of written) {
      if (!gdal.capabilities.rasterDrivers.includes(driver)) continue;
      const file = path.join(folder, `made.${driver}`);
      const source = fixture("raster/rgb_utm18_nodata0.tif");
      const options = { workDir: folder, sources: [source], drivers: ["GTiff", driver] };
      await gdal.run("gdal_translate", ["-q", "-of", driver, source, file], options);
      expect(await checkRasterFile(file)).toEqual({ content, driver, problem: undefined });
    }
  });
});

describe("a vector file", () => {
  const alone = vectorAttacks(canary).filter(
    ({ code, files }) => code !== "SIDECAR_INVALID" && !/zip$|kmz$/.test(Object.keys(files)[0]!),
  );
  it.each(alone.map((attack) => [attack.name, attack] as const))(
    "that is the attack %s is seen through",
    async (name, { files, code }) => {
      const [content = ""] = Object.values(files);
      const checked = await checkVectorFile(await write(name, content), signal);
      if (code === "INVALID_FORMAT") expect(checked.content).toBeUndefined();
      // The layers' names are read by GDAL.
      else expect(checked.problem?.code).toBe(code === "NAME_NOT_ALLOWED" ? undefined : code);
    },
  );

  it("of others is taken", async () => {
    const contents: Record<string, string> = {
      ".shp": "Shapefile",
      ".gpkg": "GeoPackage",
      ".geojson": "GeoJSON",
    };
    for (const name of await readdir(fixture("vector"))) {
      const content = contents[path.extname(name)];
      if (content === undefined) continue;
      const checked = await checkVectorFile(fixture(`vector/${name}`), signal);
      expect([name, checked]).toMatchObject([name, { content, problem: undefined }]);
    }
  });

  it("that GDAL writes as a GeoPackage, with index and triggers, is taken", async () => {
    const gdal = await createGdal();
    const source = fixture("vector/land_110m.geojson");
    const file = path.join(folder, "made.gpkg");
    const options = { workDir: folder, sources: [source], drivers: ["GeoJSON", "GPKG"] };
    await gdal.run("ogr2ogr", ["-f", "GPKG", file, source], options);
    const checked = await checkVectorFile(file, signal);
    expect(checked).toMatchObject({ content: "GeoPackage", problem: undefined });
    const rows = await withFile(file, readSqliteSchema);
    expect(rows.map(({ name }) => name)).toContain("rtree_ne_110m_land_geom_insert");
  });

  it("with a schema on many pages is read whole, and a damaged one is not trusted", async () => {
    const long = `CREATE TABLE t (${Array.from({ length: 900 }, (_, n) => `column_${n} TEXT`).join(", ")})`;
    const made = writeSqlite([{ name: "t", sql: long, rows: [] }]);
    const file = await write("long.gpkg", made);
    expect(await withFile(file, readSqliteSchema)).toEqual([{ name: "t", sql: long }]);
    for (const [at, value] of [
      [16, 3],
      [100, 0x02],
      [103, 0xff],
      [59, 9],
    ] as const) {
      const damaged = Buffer.from(made);
      damaged[at] = value;
      const broken = await write("damaged.gpkg", damaged);
      await expect(withFile(broken, readSqliteSchema)).rejects.toMatchObject({
        code: "SQLITE_DAMAGED",
      });
    }
  });
});

/** Files from a laptop: `rmhdag put`, `ls`, `get`, `rm`, and `ingest` from a file to its map. */
import { createHash, randomBytes } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeMetadata } from "../../src/core/files/upload-headers.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import type { Site } from "../support/processes.ts";
import { endProcesses, startSite, temporaryFolder } from "../support/processes.ts";

let database: TestDatabase;
let site: Site;
let folder: string;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  folder = await temporaryFolder();
  site = await startSite({ env: { DATABASE_URL: database.url } });
  token = (await readFile(path.join(site.dataFolder, "cli-token"), "utf8")).trim();
}, 90_000);
afterAll(async () => {
  await endProcesses();
  await database.drop();
}, 90_000);

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("rmhdag put, ls, get and rm", () => {
  it("put folders and bring files back as they were", async () => {
    const content = randomBytes(9 * 1024 * 1024);
    await mkdir(path.join(folder, "survey/deep"), { recursive: true });
    await writeFile(path.join(folder, "survey/one.bin"), content);
    await writeFile(path.join(folder, "survey/deep/two.txt"), "two");
    await writeFile(path.join(folder, "survey/.hidden"), "no");
    const put = await site.json<{ path: string; status: string }[]>(
      "put",
      path.join(folder, "survey"),
      "bronze/",
    );
    expect(put.map((each) => [each.path, each.status])).toEqual([
      ["bronze/survey/deep/two.txt", "put"],
      ["bronze/survey/one.bin", "put"],
    ]);
    const listed = await site.cli("ls", "bronze/survey");
    expect(listed.stdout).toContain("bronze/survey/deep/");
    expect(listed.stdout).toMatch(/bronze\/survey\/one\.bin +9\.0 MB/);
    const back = path.join(folder, "back.bin");
    expect((await site.cli("get", "bronze/survey/one.bin", back)).status).toBe(0);
    expect(sha256(await readFile(back))).toBe(sha256(content));
    expect((await site.cli("get", "bronze/survey/deep/two.txt", "-")).stdout).toBe("two");
    const again = await site.cli("put", path.join(folder, "survey/one.bin"), "bronze/survey/");
    expect(again.stdout).toContain("with the same content");
    await writeFile(path.join(folder, "one.bin"), "other");
    const other = await site.cli("put", path.join(folder, "one.bin"), "bronze/survey/one.bin");
    expect(other.status).toBe(1);
    expect(other.stderr).toContain("--replace");
    expect((await site.cli("put", path.join(folder, "one.bin"), "silver/")).status).toBe(2);
    expect((await site.cli("rm", "bronze/survey/one.bin")).stdout).toContain("deleted");
    const gone = await site.cli("get", "bronze/survey/one.bin");
    expect(gone.status).toBe(1);
    expect(gone.stderr).toContain("bronze/survey/one.bin");
  });

  it("go on with an upload that was broken off", async () => {
    const content = randomBytes(1024 * 1024);
    const file = path.join(folder, "broken.bin");
    await writeFile(file, content);
    const headers = { authorization: `Bearer ${token}`, "tus-resumable": "1.0.0" };
    const made = await fetch(`${site.url}/api/v1/uploads`, {
      method: "POST",
      headers: {
        ...headers,
        "upload-length": String(content.length),
        "upload-metadata": writeMetadata({ path: "bronze/broken.bin", sha256: sha256(content) }),
      },
    });
    await fetch(new URL(made.headers.get("location") ?? "", site.url), {
      method: "PATCH",
      headers: {
        ...headers,
        "upload-offset": "0",
        "content-type": "application/offset+octet-stream",
      },
      body: content.subarray(0, 600_000),
    });
    const put = await site.cli("put", file, "bronze/broken.bin");
    expect(put.stdout).toContain("from where it had stopped");
    const back = await site.cli("get", "bronze/broken.bin", path.join(folder, "whole.bin"));
    expect(back.status).toBe(0);
    expect(sha256(await readFile(path.join(folder, "whole.bin")))).toBe(sha256(content));
  });
});

describe("rmhdag ingest", () => {
  it.each([
    ["raster/dem_float32_epsg2056.tif", "raster_ingest", "GeoTIFF", []],
    ["vector/wilderness_shapefile.zip", "vector_etl", "zipped Shapefile", []],
    [
      "vector/first_geometry_null.gpkg",
      "vector_etl",
      "GeoPackage",
      ["--input", "source_crs=EPSG:4326"],
    ],
  ])("turns %s into a map by %s", async (name, workflow, format, given) => {
    const file = path.join(folder, path.basename(name));
    await copyFile(fixture(name), file);
    const [made] = await site.json<Record<string, string>[]>("ingest", file, ...given);
    expect(made).toMatchObject({ workflow, format, path: `bronze/ingest/${path.basename(name)}` });
    const { collection_id = "", item_id = "" } = made ?? {};
    const item = `/stac/collections/${collection_id}/items/${item_id}`;
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${site.url}${item}`, { headers })).status).toBe(200);
    // The printed link signs in and leads to the map.
    const signIn = await fetch(made?.["map"] ?? "", { redirect: "manual" });
    expect(signIn.status).toBeLessThan(400);
    const map = await fetch(`${site.url}${item}/map`, { headers });
    expect(await map.text()).toContain("<title>");
    const kind = workflow === "raster_ingest" ? "raster" : "vector";
    const inspected = await fetch(`${site.url}/api/v1/jobs?wait=60`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        workflow_id: "inspect_file",
        inputs: { blob_path: `ingest/${path.basename(name)}`, kind },
      }),
    });
    const { result } = (await inspected.json()) as { result: { file: object } };
    expect(result.file).toMatchObject({ kind, thumbnail: { media_type: "image/webp" } });
  });

  it("says of a file that it does not know what to do, and where the file is", async () => {
    const file = path.join(folder, "notes.txt");
    await writeFile(file, "to do");
    const { status, stderr } = await site.cli("ingest", file);
    expect(status).toBe(1);
    expect(stderr).toContain("no workflow is known: name one with --workflow");
    expect(stderr).toContain("bronze/ingest/notes.txt");
  });
});

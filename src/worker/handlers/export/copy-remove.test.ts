import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DataFactoryStandIn } from "../../../../test/support/data-factory.ts";
import { startDataFactory } from "../../../../test/support/data-factory.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext, noGdal } from "../../../../test/support/handler-context.ts";
import { createDataFactory } from "../../../adapters/azure/data-factory.ts";
import type { DataFactory } from "../../../adapters/azure/data-factory.ts";
import type { Handler } from "../../define-handler.ts";
import { buildPackage } from "./build-package.ts";
import { copyExternal, removeExternal } from "./copy-remove.ts";
import { folderOfDownloads, folderOfVersion } from "./places.ts";

const asset_id = "a".repeat(32);
const key = { asset_id, version_ordinal: 1 };
const version = { ...key, revision: 2 };
const folder = `gold/${asset_id}/v1/r2`;
const copy = `external/${asset_id}/v1/r2`;

let database: TestDatabase;
let test: TestContext;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  test = await createTestContext({ database: database.db, gdal: noGdal });
  await test.storage.put("silver/a/birds.tif", new Uint8Array([1, 2, 3]));
});
afterEach(() => test.dispose());

const pathsBelow = async (prefix: string) =>
  (await test.storage.list(prefix)).items.map(({ path }) => path);

describe("the package of a version without items", () => {
  it("is its file with a manifest, and is copied to a place of its revision's own", async () => {
    const built = await test.run(buildPackage, { ...version, blob_path: "silver/a/birds.tif" });
    expect(built).toMatchObject({ folder, main_file: "birds.tif", file_count: 2 });
    const manifest = await test.storage.get(`${folder}/manifest.json`);
    expect(JSON.parse(Buffer.from(manifest).toString())).toMatchObject({
      ...version,
      files: [
        {
          path: "birds.tif",
          bytes: 3,
          // Of `printf '\1\2\3' | sha256sum`.
          sha256: "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81",
        },
      ],
    });
    const { main_file } = built as { main_file: string };
    const first = await test.run(copyExternal, { ...version, folder, main_file });
    expect(first).toMatchObject({
      external_blob_path: `${copy}/birds.tif`,
      adf_run_id: null,
      copied_by: "worker",
    });
    expect(await test.run(copyExternal, { ...version, folder, main_file })).toEqual(first);
    expect(await pathsBelow(`external/${asset_id}/`)).toEqual([
      `${copy}/birds.tif`,
      `${copy}/manifest.json`,
    ]);
  });

  it("fails for good where there is nothing to export", async () => {
    await expect(
      test.run(buildPackage, { ...version, blob_path: "silver/gone.tif" }),
    ).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    await expect(test.run(buildPackage, version)).rejects.toMatchObject({
      code: "NOTHING_TO_EXPORT",
    });
    await expect(test.run(copyExternal, { ...version, folder })).rejects.toMatchObject({
      code: "BLOB_NOT_FOUND",
    });
  });

  it("leaves the revision before it to its readers, and no earlier one", async () => {
    for (const revision of [1, 2, 3]) {
      const at = { ...version, revision };
      await test.storage.put(`gold/${folderOfDownloads(at)}/a.gpkg`, new Uint8Array([1]));
      await test.run(buildPackage, { ...at, blob_path: "silver/a/birds.tif" });
      await test.run(copyExternal, { ...at, folder: `gold/${asset_id}/v1/r${revision}` });
    }
    const kept = await pathsBelow(`external/${asset_id}/`);
    expect([...new Set(kept.map((path) => path.split("/")[3]))]).toEqual(["r2", "r3"]);
    // The manifest lists every file that the public gets, and downloads of operators are not among them.
    expect(kept.filter((path) => path.endsWith(".gpkg"))).toEqual([]);
    const downloads = `gold/${folderOfVersion(version)}/downloads/`;
    expect(await pathsBelow(downloads)).toEqual([`${downloads}r2/a.gpkg`, `${downloads}r3/a.gpkg`]);
    await test.run(removeExternal, key);
    expect(await pathsBelow(downloads)).toEqual([]);
  });

  it("is taken back whole, as often as it is asked, and nothing else is", async () => {
    await test.run(copyExternal, { ...version, blob_path: "silver/a/birds.tif" });
    await test.storage.put(`external/${asset_id}/v10/r1/other.tif`, new Uint8Array([1]));
    expect(await test.run(removeExternal, key)).toEqual({ removed: 1, adf_run_id: null });
    expect(await test.run(removeExternal, key)).toEqual({ removed: 0, adf_run_id: null });
    expect(await pathsBelow("external/")).toEqual([`external/${asset_id}/v10/r1/other.tif`]);
  });
});

describe("with Azure Data Factory", () => {
  let standIn: DataFactoryStandIn;
  let dataFactory: DataFactory;
  beforeEach(async () => {
    standIn = await startDataFactory();
    Object.assign(process.env, standIn.identity);
    dataFactory = createDataFactory({
      subscription: "sub",
      resourceGroup: "group",
      factory: "factory",
      pipeline: "rmhdag_export",
      withdrawPipeline: "rmhdag_withdraw",
      managementUrl: standIn.url,
      pollMs: 5,
      clientId: undefined,
    });
  });
  afterEach(() => {
    for (const name of Object.keys(standIn.identity)) Reflect.deleteProperty(process.env, name);
    standIn.close();
  });
  const run = (handler: Handler, params: unknown) =>
    handler.run(handler.contract.params.parse(params), { ...test.context, dataFactory });

  it("its run copies the package, and its id is the one that is recorded", async () => {
    await run(buildPackage, { ...version, blob_path: "silver/a/birds.tif" });
    const copied = await run(copyExternal, { ...version, folder, main_file: "birds.tif" });
    const [only] = standIn.runs;
    expect(standIn.runs).toEqual([
      {
        id: only!.id,
        pipeline: "rmhdag_export",
        parameters: {
          source_container: "gold",
          source_folder: `${asset_id}/v1/r2`,
          source_file: "*",
          target_container: "external",
          target_folder: `${asset_id}/v1/r2`,
        },
      },
    ]);
    expect(copied).toMatchObject({
      external_blob_path: `${copy}/birds.tif`,
      adf_run_id: only!.id,
      copied_by: "data_factory",
    });
    expect(standIn.polls).toBe(2);
    expect(standIn.refused).toEqual([]);
    // The factory writes there, and not the worker.
    expect(await pathsBelow("external/")).toEqual([]);
    // A new attempt of the task awaits the same run.
    await run(copyExternal, { ...version, folder, main_file: "birds.tif" });
    expect(standIn.runs).toHaveLength(1);
  });

  it("a run that fails is the failure of the export, with its reason", async () => {
    await run(buildPackage, { ...version, blob_path: "silver/a/birds.tif" });
    standIn.outcome = { status: "Failed", message: "Operation on target Copy failed: 403" };
    await expect(run(copyExternal, { ...version, folder })).rejects.toMatchObject({
      code: "ADF_RUN_FAILED",
      category: "permanent",
      message: expect.stringContaining("Operation on target Copy failed: 403") as string,
    });
    standIn.outcome = { status: "Succeeded" };
    const copied = await run(copyExternal, { ...version, folder });
    expect(standIn.runs).toHaveLength(2);
    expect(copied).toMatchObject({ adf_run_id: standIn.runs[1]!.id });
  });

  it("a withdrawal is a run of the pipeline that deletes", async () => {
    const removed = await run(removeExternal, key);
    expect(standIn.runs).toMatchObject([
      {
        pipeline: "rmhdag_withdraw",
        parameters: { target_container: "external", target_folder: `${asset_id}/v1` },
      },
    ]);
    expect(removed).toMatchObject({ adf_run_id: standIn.runs[0]!.id });
  });
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalStorage } from "../../adapters/storage/local-storage.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { HandlerContext } from "../define-handler.ts";
import { copyExternal, removeExternal } from "./export.ts";

let folder: string;
let storage: Storage;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-export-"));
  storage = createLocalStorage(folder);
  await storage.put("silver/a/birds.tif", new Uint8Array([1, 2, 3]));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ignore = () => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const context = () =>
  ({ storage, task_id: "job_copy_0", logger: silent }) as unknown as HandlerContext;
const params = {
  asset_id: "a".repeat(32),
  version_ordinal: 1,
  revision: 2,
  blob_path: "silver/a/birds.tif",
};

describe("an export", () => {
  it("copies the file to a place of its revision's own, as often as it is asked", async () => {
    const first = await copyExternal.run(params, context());
    expect(first).toMatchObject({
      external_blob_path: `external/${"a".repeat(32)}/v1/r2/birds.tif`,
      bytes: 3,
    });
    expect(await copyExternal.run(params, context())).toEqual(first);
    expect(await storage.get(`external/${"a".repeat(32)}/v1/r2/birds.tif`)).toHaveLength(3);
  });

  it("fails for good where there is nothing to copy", async () => {
    await expect(
      copyExternal.run({ ...params, blob_path: "silver/gone.tif" }, context()),
    ).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
  });

  it("is taken back once, and only from the external zone", async () => {
    await storage.put("external/x/y.tif", new Uint8Array([1]));
    const external_blob_path = "external/x/y.tif";
    const remove = () => removeExternal.run({ external_blob_path }, context());
    expect(await remove()).toEqual({ external_blob_path, removed: true });
    expect(await remove()).toEqual({ external_blob_path, removed: false });
    await expect(
      removeExternal.run({ external_blob_path: "silver/a/birds.tif" }, context()),
    ).rejects.toMatchObject({ code: "NOT_EXTERNAL" });
  });
});

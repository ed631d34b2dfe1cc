import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDiskCache } from "./disk-cache.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-disk-cache-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("stays within its bound, and loses what was unused for longest", async () => {
  const disk = createDiskCache(folder, 1000);
  for (const name of ["a", "b", "c", "d"]) {
    await disk.put(name, new Uint8Array(90));
    await disk.get("a");
  }
  for (let index = 0; index < 8; index++) {
    await disk.put(`e${index}`, new Uint8Array(90));
    await disk.get("a");
  }
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  expect(files.filter((each) => each.isFile()).length).toBe(11);
  expect(await disk.get("a")).toBeDefined();
  expect(await disk.get("b")).toBeUndefined();
  expect(await disk.get("e7")).toBeDefined();
});

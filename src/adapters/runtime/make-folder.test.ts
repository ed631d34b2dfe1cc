import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

describe("making a folder", () => {
  let base: string;
  beforeAll(async () => {
    base = await mkdtemp(path.join(tmpdir(), "make-folder-"));
  });
  afterAll(() => rm(base, { recursive: true }));

  it("makes the folders above it, from several callers at once, with a mode", async () => {
    const deep = path.join(base, "a/b/c");
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(deep, 0o700)));
    expect((await stat(deep)).mode & 0o777).toBe(0o700);
    await makeFolder(deep);
  });

  it("refuses a place below a file, and a name that is a file", async () => {
    const file = path.join(base, "file");
    await writeFile(file, "");
    await expect(makeFolder(file)).rejects.toMatchObject({ code: "EEXIST" });
    await expect(makeFolder(path.join(file, "x"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it.skipIf(!existsSync("/proc/self"))("ends where the file system refuses", async () => {
    await expect(makeFolder("/proc/nothing/here/at/all")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

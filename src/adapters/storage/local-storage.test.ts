import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createLocalStorage } from "./local-storage.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), "rmhdag-storage-"));
  root = path.join(base, "zones");
});
afterEach(() => rm(base, { recursive: true, force: true }));

const bytes = (text: string) => new TextEncoder().encode(text);

it("gives back what was put, replaces it, and leaves no half-written files", async () => {
  const storage = createLocalStorage(root);
  expect(await storage.head("results/a/b.json")).toBeUndefined();
  await storage.put("results/a/b.json", bytes("one"));
  await storage.put("results/a/b.json", bytes("three"));
  expect(new TextDecoder().decode(await storage.get("results/a/b.json"))).toBe("three");
  expect(await storage.head("results/a/b.json")).toMatchObject({
    path: "results/a/b.json",
    bytes: 5,
  });
  expect(await readdir(path.join(root, "results/a"))).toEqual(["b.json"]);
});

it("says that there is nothing, for a file and for a folder that are not there", async () => {
  const storage = createLocalStorage(root);
  await expect(storage.get("results/none")).rejects.toThrow(/nothing at "results\/none"/);
  await storage.put("results/a/b", bytes(""));
  await expect(storage.get("results/a/b/c")).rejects.toThrow(/nothing at/);
  expect(await storage.head("results/a")).toBeUndefined();
});

it.each([
  ["/etc/passwd", /absolute/],
  ["results/../../secret", /"\.\."/],
  ["results//x", /empty/],
  ["results/./x", /"\."/],
  ["other/x", /start with a zone/],
  ["results", /start with a zone/],
  ["results/a\0b", /control character/],
  ["results\\..\\x", /backslash/],
  ["", /empty/],
])("refuses the path %j", async (name, reason) => {
  const storage = createLocalStorage(root);
  await expect(storage.put(name, bytes("x"))).rejects.toThrow(reason);
  await expect(storage.get(name)).rejects.toThrow(reason);
  await expect(storage.head(name)).rejects.toThrow(reason);
});

it("does not follow a link out of its folder", async () => {
  const storage = createLocalStorage(root);
  await mkdir(path.join(root, "results"), { recursive: true });
  await writeFile(path.join(base, "secret"), "secret");
  await symlink(base, path.join(root, "results/out"));
  await symlink(path.join(base, "secret"), path.join(root, "results/file"));
  for (const name of ["results/out/secret", "results/file"]) {
    await expect(storage.get(name)).rejects.toThrow(/leads out/);
    await expect(storage.put(name, bytes("x"))).rejects.toThrow(/leads out/);
  }
  await expect(storage.put("results/out/new", bytes("x"))).rejects.toThrow(/leads out/);
  expect((await readdir(base)).toSorted()).toEqual(["secret", "zones"]);
});

import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeStorage } from "../../../test/conformance/storage.ts";
import { createLocalStaging } from "./local-staging.ts";
import { createLocalStorage } from "./local-storage.ts";

describeStorage("a folder as storage", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-storage-"));
  const storage = createLocalStorage(folder);
  return {
    storage,
    staging: createLocalStaging(folder, storage),
    fetchSigned: async (address) => {
      const url = new URL(address, "http://here");
      const name = url.pathname
        .replace("/storage/", "")
        .split("/")
        .map(decodeURIComponent)
        .join("/");
      const expires = Number(url.searchParams.get("expires"));
      const signature = url.searchParams.get("signature") ?? "";
      const isValid = await storage.checkSignature(name, { expires, signature });
      if (!isValid) return { status: 403, bytes: Buffer.alloc(0) };
      return { status: 200, bytes: Buffer.from(await storage.get(name)) };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
});

describe("a folder on a machine that is not only ours", () => {
  let base: string;
  let root: string;
  beforeEach(async () => {
    base = await mkdtemp(path.join(tmpdir(), "rmhdag-storage-"));
    root = path.join(base, "zones");
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const bytes = (text: string) => new TextEncoder().encode(text);

  it("leaves no half-written files", async () => {
    const storage = createLocalStorage(root);
    await storage.put("results/a/b.json", bytes("one"));
    await storage.put("results/a/b.json", bytes("two"));
    expect(await readdir(path.join(root, "results/a"))).toEqual(["b.json"]);
  });

  it("does not follow a link out of a zone, not even into another one", async () => {
    const storage = createLocalStorage(root);
    await storage.put("bronze/raw", bytes("raw"));
    await storage.put("silver/own", bytes("own"));
    await writeFile(path.join(base, "secret"), "secret");
    await symlink(base, path.join(root, "silver/out"));
    await symlink(path.join(base, "secret"), path.join(root, "silver/file"));
    await symlink(path.join(root, "bronze"), path.join(root, "silver/other"));
    for (const name of ["silver/out/secret", "silver/file", "silver/other/raw"]) {
      await expect(storage.get(name)).rejects.toThrow(/leads out/);
      await expect(storage.put(name, bytes("x"))).rejects.toThrow(/leads out/);
      await expect(storage.delete(name)).rejects.toThrow(/leads out/);
      await expect(storage.copy(name, "silver/x")).rejects.toThrow(/leads out/);
      await expect(storage.localPath(name)).rejects.toThrow(/leads out/);
    }
    await expect(storage.put("silver/out/new", bytes("x"))).rejects.toThrow(/leads out/);
    for (const prefix of ["silver/", "silver/o", "silver/out/", "silver/other/"]) {
      const paths = (await storage.list(prefix)).items.map((item) => item.path);
      expect(paths).toEqual(
        prefix.startsWith("silver/ou") || prefix.length > 8 ? [] : ["silver/own"],
      );
    }
    expect((await readdir(base)).toSorted()).toEqual(["secret", "zones"]);
  });

  it("may have a zone on another disk, by a link that the operator made", async () => {
    await mkdir(path.join(base, "disk"));
    await mkdir(root);
    await symlink(path.join(base, "disk"), path.join(root, "gold"));
    const storage = createLocalStorage(root);
    await storage.put("gold/a", bytes("a"));
    expect((await storage.list("gold/")).items).toHaveLength(1);
    expect(await storage.localPath("gold/a")).toBe(path.join(base, "disk/a"));
  });

  it("shares its signing key with processes on the same folder only", async () => {
    const [one, two] = [createLocalStorage(root), createLocalStorage(root)];
    const publicUrl = "https://data.example.org/";
    const [url] = await Promise.all([
      createLocalStorage(root, { publicUrl }).signedUrl("gold/a b"),
      two.signedUrl("gold/a"),
    ]);
    expect(url).toMatch(
      /^https:\/\/data\.example\.org\/storage\/gold\/a%20b\?expires=\d+&signature=/,
    );
    const given = new URL(url).searchParams;
    const signed = {
      expires: Number(given.get("expires")),
      signature: given.get("signature") ?? "",
    };
    expect(await one.checkSignature("gold/a b", signed)).toBe(true);
    expect(await two.checkSignature("gold/a", signed)).toBe(false);
    const later = { ...signed, expires: signed.expires + 1 };
    expect(await two.checkSignature("gold/a b", later)).toBe(false);
    expect((await stat(path.join(root, ".signing-key"))).mode & 0o077).toBe(0);
    expect((await readdir(root)).filter((name) => name.startsWith(".signing"))).toHaveLength(1);
  });
});

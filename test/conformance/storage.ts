/** What every storage must do, run on each adapter. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Staging } from "../../src/adapters/storage/staging.ts";
import { BodyTooLong } from "../../src/adapters/storage/staging.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import { BadStoragePath, NotInStorage } from "../../src/adapters/storage/storage.ts";

export interface StorageUnderTest {
  readonly storage: Storage;
  readonly staging: Staging;
  /** As a client that was given the address would: the status, and the bytes. */
  fetchSigned(url: string): Promise<{ status: number; bytes: Buffer }>;
  close(): Promise<void>;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (given: Uint8Array) => new TextDecoder().decode(given);

export function describeStorage(name: string, start: () => Promise<StorageUnderTest>): void {
  describe(name, () => {
    let under: StorageUnderTest;
    let storage: Storage;
    let folder: string;
    beforeAll(async () => {
      under = await start();
      ({ storage } = under);
      folder = await mkdtemp(path.join(tmpdir(), "rmhdag-storage-test-"));
    });
    afterAll(async () => {
      await under.close();
      await rm(folder, { recursive: true, force: true });
    });

    it("gives back what was put, and says when it is another", async () => {
      expect(await storage.head("results/a/b.json")).toBeUndefined();
      await storage.put("results/a/b.json", bytes("one"), { contentType: "application/json" });
      const first = await storage.head("results/a/b.json");
      await storage.put("results/a/b.json", bytes("three"));
      expect(text(await storage.get("results/a/b.json"))).toBe("three");
      const second = await storage.head("results/a/b.json");
      expect(second).toMatchObject({ path: "results/a/b.json", bytes: 5 });
      expect(second?.etag).not.toBe(first?.etag);
      expect(Number.isNaN(Date.parse(second?.modified_at ?? ""))).toBe(false);
    });

    it("keeps names with spaces, accents and signs of URLs", async () => {
      const odd = "bronze/süß & grün/50% #1?.txt";
      await storage.put(odd, bytes("odd"));
      expect(text(await storage.get(odd))).toBe("odd");
      const { items } = await storage.list("bronze/süß");
      expect(items.map((item) => item.path)).toEqual([odd]);
      const signed = await under.fetchSigned(await storage.signedUrl(odd));
      expect(signed.bytes.toString()).toBe("odd");
      expect(await storage.delete(odd)).toBe(true);
    });

    it("says that there is nothing, whatever is asked", async () => {
      const none = "silver/none.tif";
      for (const ask of [
        () => storage.get(none),
        () => storage.getFile(none, path.join(folder, "none")),
        () => storage.readRange(none, 0, 10),
        () => storage.stream(none),
        () => storage.copy(none, "silver/copy.tif"),
      ]) {
        await expect(ask()).rejects.toThrow(NotInStorage);
      }
      expect(await storage.delete(none)).toBe(false);
      expect(await readdir(folder)).toEqual([]);
      await storage.put("silver/a/b", bytes(""));
      expect(await storage.head("silver/a")).toBeUndefined();
      expect((await storage.get("silver/a/b")).length).toBe(0);
    });

    it.each([
      "",
      "/etc/passwd",
      "silver",
      "other/x",
      "silver/../bronze/x",
      "silver/..",
      "silver//x",
      "silver/./x",
      "silver/a\0b",
      "silver\\..\\x",
      `silver/${"x/".repeat(550)}x`,
      `silver/${"ü".repeat(101)}`,
    ])("refuses the path %j in every way", async (bad) => {
      for (const ask of [
        () => storage.put(bad, bytes("x")),
        () => storage.get(bad),
        () => storage.head(bad),
        () => storage.putFile(bad, import.meta.filename),
        () => storage.getFile(bad, path.join(folder, "x")),
        () => storage.readRange(bad, 0, 1),
        () => storage.copy("results/a/b.json", bad),
        () => storage.delete(bad),
        () => storage.signedUrl(bad),
        () => storage.localPath(bad),
      ]) {
        await expect(ask()).rejects.toThrow(BadStoragePath);
      }
    });

    it("moves whole files in and out, with progress, and reads parts of them", async () => {
      const content = randomBytes(9 * 1024 * 1024 + 17);
      const [from, to] = [path.join(folder, "from"), path.join(folder, "to")];
      await writeFile(from, content);
      const seen: number[] = [];
      const stored = await storage.putFile("silver/big.bin", from, {
        onProgress: (fraction) => seen.push(fraction),
      });
      expect(stored).toMatchObject({ path: "silver/big.bin", bytes: content.length });
      expect(seen.at(-1)).toBe(1);
      expect(seen.length).toBeGreaterThan(1);
      const got = await storage.getFile("silver/big.bin", to);
      expect(got.etag).toBe(stored.etag);
      expect(content.equals(await readFile(to))).toBe(true);
      const part = await storage.readRange("silver/big.bin", 5_000_000, 100);
      expect(content.subarray(5_000_000, 5_000_100).equals(part)).toBe(true);
      const end = await storage.readRange("silver/big.bin", content.length - 5, 100);
      expect(content.subarray(-5).equals(end)).toBe(true);
      expect((await storage.readRange("silver/big.bin", content.length + 5, 10)).length).toBe(0);
      const { object, body } = await storage.stream("silver/big.bin", { offset: 10, length: 20 });
      expect(content.subarray(10, 30).equals(await buffer(body))).toBe(true);
      expect(object.bytes).toBe(content.length);
      const whole = await storage.stream("silver/big.bin");
      expect(content.equals(await buffer(whole.body))).toBe(true);
    });

    it("stores and leaves nothing of a transfer that is stopped", async () => {
      const from = path.join(folder, "stopped");
      await writeFile(from, Buffer.alloc(24 * 1024 * 1024));
      const aborter = new AbortController();
      const stop = {
        signal: aborter.signal,
        onProgress: () => {
          aborter.abort(new Error("enough"));
        },
      };
      await expect(storage.putFile("silver/stopped.bin", from, stop)).rejects.toThrow();
      expect(await storage.head("silver/stopped.bin")).toBeUndefined();
      await storage.putFile("silver/whole.bin", from);
      const into = path.join(folder, "into");
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(storage.getFile("silver/whole.bin", into, { signal })).rejects.toThrow();
      expect((await readdir(folder)).filter((each) => each.startsWith("into"))).toEqual([]);
    });

    it("copies and deletes", async () => {
      await storage.put("gold/one", bytes("one"));
      const copied = await storage.copy("gold/one", "external/deep/two");
      expect(copied).toMatchObject({ path: "external/deep/two", bytes: 3 });
      expect(await storage.delete("gold/one")).toBe(true);
      expect(await storage.delete("gold/one")).toBe(false);
      expect(text(await storage.get("external/deep/two"))).toBe("one");
    });

    it("lists in the order of the paths, page by page, below a prefix", async () => {
      const names = ["a-b", "a.txt", "a/1", "a/2/x", "a/2/y", "a/3", "ab", "b/1"];
      for (const each of names.toReversed()) await storage.put(`gold/l/${each}`, bytes(each));
      const listed: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await storage.list("gold/l/", { limit: 3, cursor });
        expect(page.items.length).toBeLessThanOrEqual(3);
        listed.push(...page.items.map((item) => item.path));
        cursor = page.next_cursor ?? undefined;
        pages++;
      } while (cursor !== undefined);
      expect(listed).toEqual(names.map((each) => `gold/l/${each}`));
      expect(pages).toBe(3);
      const below = async (prefix: string) =>
        (await storage.list(prefix)).items.map((item) => item.path.slice("gold/l/".length));
      expect(await below("gold/l/a/")).toEqual(["a/1", "a/2/x", "a/2/y", "a/3"]);
      expect(await below("gold/l/a")).toEqual(names.slice(0, -1));
      expect(await below("gold/l/a/2/x")).toEqual(["a/2/x"]);
      expect(await below("gold/nothing/")).toEqual([]);
      const [first] = (await storage.list("gold/l/a/1")).items;
      expect(first).toEqual(await storage.head("gold/l/a/1"));
      for (const prefix of ["", "other/", "gold/../silver/", "/gold", "gold//"]) {
        await expect(storage.list(prefix)).rejects.toThrow(BadStoragePath);
      }
    });

    it("browses a folder, page by page, and not what lies deeper", async () => {
      for (const each of ["a/1", "a/2", "a/deep/3", "b"]) {
        await storage.put(`gold/f/${each}`, bytes(each));
      }
      const whole = await storage.browse("gold/f/a");
      expect(whole.items.map((item) => item.path)).toEqual(["gold/f/a/1", "gold/f/a/2"]);
      expect(whole).toMatchObject({ folders: ["gold/f/a/deep/"], next_cursor: null });
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await storage.browse("gold/f/a/", { limit: 1, cursor });
        seen.push(...page.folders, ...page.items.map((item) => item.path));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      expect(seen.toSorted()).toEqual(["gold/f/a/1", "gold/f/a/2", "gold/f/a/deep/"]);
      expect(await storage.browse("gold/none/")).toMatchObject({ folders: [], items: [] });
      await expect(storage.browse("gold/../x")).rejects.toThrow(BadStoragePath);
    });

    it("stages an upload in parts, and publishes it whole, once", async () => {
      const { staging } = under;
      const content = randomBytes(9 * 1024 * 1024 + 5);
      const options = (limit: number) => ({
        limit,
        onBytes: () => undefined,
        onDurable: async () => undefined,
      });
      const half = content.subarray(0, 5_000_000);
      expect(await staging.write("u1", 0, Readable.from([half]), options(content.length))).toEqual({
        bytes: half.length,
      });
      // More was staged than was confirmed: it is written again, in other pieces.
      const rest = content.subarray(4_000_000);
      await staging.write(
        "u2",
        0,
        Readable.from([half.subarray(0, 4_000_000)]),
        options(4_000_000),
      );
      await staging.write("u2", 4_000_000, Readable.from([half]), options(half.length));
      const second = await staging.write(
        "u2",
        4_000_000,
        Readable.from([rest]),
        options(rest.length),
      );
      expect(second).toEqual({ bytes: rest.length });
      expect(await storage.head("bronze/u.bin")).toBeUndefined();
      expect(content.equals(await buffer(await staging.read("u2", content.length)))).toBe(true);
      const stored = await staging.publish("u2", "bronze/u.bin", content.length);
      expect(stored).toMatchObject({ path: "bronze/u.bin", bytes: content.length });
      expect(content.equals(await storage.get("bronze/u.bin"))).toBe(true);
      expect(await staging.publish("u2", "bronze/u.bin", content.length)).toBeUndefined();
      const long = await staging.write("u1", half.length, Readable.from([half]), options(10));
      expect(long.error).toBeInstanceOf(BodyTooLong);
      await staging.remove("u1");
      expect(await staging.publish("u1", "bronze/never.bin", half.length)).toBeUndefined();
    });

    it("signs addresses that are good for one object", async () => {
      await storage.put("external/public.txt", bytes("hello"));
      await storage.put("external/other.txt", bytes("secret"));
      const url = await storage.signedUrl("external/public.txt");
      expect(await under.fetchSigned(url)).toEqual({ status: 200, bytes: Buffer.from("hello") });
      const other = url.replace("public.txt", "other.txt");
      expect((await under.fetchSigned(other)).status).toBe(403);
      const short = await storage.signedUrl("external/public.txt", { seconds: -60 });
      expect((await under.fetchSigned(short)).status).toBe(403);
    });
  });
}

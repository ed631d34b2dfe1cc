import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Packed } from "../../../test/support/zip.ts";
import { packZip } from "../../../test/support/zip.ts";
import type { ZipLimits } from "./open-zip.ts";
import { openZip } from "./open-zip.ts";
import { replaceEntry } from "./replace-entry.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-zip-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function pack(...files: Packed[]): Promise<string> {
  const file = path.join(folder, "given.zip");
  await writeFile(file, packZip(...files));
  return file;
}

it("unpacks what is asked for, with its folders", async () => {
  const content = Buffer.from("hello");
  const zip = await openZip(
    await pack({ name: "a/b.shp", content }, { name: "a/" }, { name: "a/readme.txt" }),
  );
  expect(zip.entries).toEqual([
    { name: "a/b.shp", bytes: 5 },
    { name: "a/readme.txt", bytes: 1 },
  ]);
  const target = path.join(folder, "out");
  const only = ({ name }: { name: string }) => name.endsWith(".shp");
  expect(await zip.extractTo(target, { only })).toEqual([path.join(target, "a/b.shp")]);
  expect(await readFile(path.join(target, "a/b.shp"), "utf8")).toBe("hello");
  zip.close();
});

const zeros = Buffer.alloc(8 * 1024 * 1024);
it.each<[string, string, Packed[], Partial<ZipLimits>?]>([
  ["a name that climbs out", "ZIP_BAD_NAME", [{ name: "../x" }]],
  ["a name that climbs out later", "ZIP_BAD_NAME", [{ name: "a/../../x" }]],
  ["an absolute name", "ZIP_BAD_NAME", [{ name: "/etc/passwd" }]],
  ["a drive", "ZIP_BAD_NAME", [{ name: "C:/x" }]],
  ["a backslash that climbs out", "ZIP_BAD_NAME", [{ name: "..\\x" }]],
  ["a line break", "ZIP_BAD_NAME", [{ name: "a\nb", flags: 0x800 }]],
  ["the same name twice", "ZIP_BAD_NAME", [{ name: "a.shp" }, { name: "A.SHP" }]],
  ["a link", "ZIP_BAD_NAME", [{ name: "a", mode: 0o120777 }]],
  ["a password", "ZIP_ENCRYPTED", [{ name: "a", flags: 1 }]],
  ["too many entries", "ZIP_TOO_MANY_ENTRIES", [{ name: "a" }, { name: "b" }], { entries: 1 }],
  ["too much", "ZIP_TOO_LARGE", [{ name: "a", claims: 5000 }], { bytes: 4096 }],
  ["a bomb", "ZIP_BOMB", [{ name: "a", content: zeros }]],
  [
    "entries that share their bytes",
    "ZIP_BOMB",
    [{ name: "a", content: zeros.subarray(0, 500_000) }].concat(
      Array.from({ length: 9 }, (_, index) => ({
        name: `b${index}`,
        content: zeros.subarray(0, 500_000),
        sharesWith: 0,
      })),
    ),
  ],
])("refuses %s", async (_what, code, files, limits) => {
  await expect(openZip(await pack(...files), limits)).rejects.toMatchObject({
    code,
    category: "permanent",
  });
});

it("refuses what is no archive, and an entry that is more than it says", async () => {
  const file = path.join(folder, "text.zip");
  await writeFile(file, "no archive");
  await expect(openZip(file)).rejects.toMatchObject({ code: "NOT_A_ZIP" });

  const zip = await openZip(
    await pack({ name: "a", content: zeros.subarray(0, 1000), claims: 10 }),
  );
  const target = path.join(folder, "out");
  await expect(zip.extractTo(target)).rejects.toThrow();
  zip.close();
  const written = await readFile(path.join(target, "a")).catch(() => Buffer.alloc(0));
  expect(written.length).toBeLessThanOrEqual(10);
  expect(await readdir(target)).toHaveLength(1);
});

it("replaces one file, and leaves the others as they are", async () => {
  const file = await pack(
    { name: "a.txt", content: Buffer.from("first") },
    { name: "b/ü.txt", content: zeros.subarray(0, 500), flags: 0x800 },
    { name: "c.txt", content: Buffer.from("last") },
  );
  const longer = Buffer.from("another text\n".repeat(9));
  expect(await replaceEntry(file, "b/ü.txt", longer)).toBe(true);
  expect(await replaceEntry(file, "missing.txt", longer)).toBe(false);
  const zip = await openZip(file);
  const target = path.join(folder, "out");
  const texts = await Promise.all(
    (await zip.extractTo(target)).map((each) => readFile(each, "utf8")),
  );
  zip.close();
  expect(texts).toEqual(["first", longer.toString(), "last"]);
});

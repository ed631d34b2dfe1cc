/** Parquet files that claim what they do not hold, read by both processes that decode such files. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packAsSnappy, packAsZstd, writeParquet } from "../../../test/support/parquet-file.ts";
import type { Bounds } from "../../core/vector/parts.ts";
import { createLocalStorage } from "../storage/local-storage.ts";
import { describeFeatures, readFeatures } from "./confined-features.ts";
import type { StoredParquet } from "./confined-features.ts";
import { convertParquet } from "./convert-parquet.ts";
import { openParquetFeatures } from "./read-features.ts";

const mebibyte = 1024 * 1024;
const most = 2 ** 31 - 1;
const zstd = (size: number) => (page: Buffer) => packAsZstd(page, size);
const snappy = (size: number) => (page: Buffer) => packAsSnappy(page, size);
const whole = writeParquet({ rows: 3 });

const [unreadable, unsupported] = ["FILE_UNREADABLE", "FORMAT_NOT_SUPPORTED"] as const;
const attacks: [string, Uint8Array, string][] = [
  [
    "a page of 2 GiB",
    writeParquet({ rows: 1, pack: zstd(99), claims: { page: most } }),
    unsupported,
  ],
  [
    "a page of 1 GiB",
    writeParquet({ rows: 1, pack: snappy(99), claims: { page: 2 ** 30 } }),
    unreadable,
  ],
  [
    "a page of less than no bytes",
    writeParquet({ rows: 1, claims: { packedPage: -9 } }),
    unreadable,
  ],
  ["a page beyond the file", writeParquet({ rows: 1, claims: { packedPage: most } }), unreadable],
  ["2 thousand million values", writeParquet({ rows: 1, claims: { values: most } }), unreadable],
  [
    "900 MiB of zeros in 30 kB of ZSTD",
    writeParquet({ rows: 1, pack: zstd(900 * mebibyte), claims: { page: 900 * mebibyte } }),
    unreadable,
  ],
  [
    "2 GiB of zeros behind a claim of 99 bytes",
    writeParquet({ rows: 1, pack: zstd(2 * 1024 * mebibyte), claims: { page: 99 } }),
    unreadable,
  ],
  [
    "400 MiB of zeros in Snappy",
    writeParquet({ rows: 1, pack: snappy(400 * mebibyte), claims: { page: 400 * mebibyte } }),
    unreadable,
  ],
];

const damagedFooters: [string, Uint8Array, string][] = [
  ["a negative number of rows", writeParquet({ rows: -1 }), unreadable],
  ["a column of less than no bytes", writeParquet({ rows: 1, claims: { column: -1 } }), unreadable],
  ["a column before the file", writeParquet({ rows: 1, claims: { offset: -4 } }), unreadable],
  ["a column beyond the file", writeParquet({ rows: 1, claims: { column: 2 ** 29 } }), unreadable],
  ["a group of 8 GiB", writeParquet({ rows: 1, claims: { group: 2 ** 33 } }), unsupported],
  ["a column of 8 GiB", writeParquet({ rows: 1, claims: { column: 2 ** 33 } }), unreadable],
  ["half of a file", whole.subarray(0, whole.length / 2), unreadable],
  ["an end without a beginning", whole.subarray(whole.length / 2), unreadable],
  ["no bytes", Buffer.alloc(0), unreadable],
];

describe("a Parquet file from outside", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "rmhdag-features-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const { signal } = new AbortController();
  const limits = () => ({ workDir: folder, signal, heapMb: 192 });

  async function put(content: Uint8Array) {
    const storage = createLocalStorage(path.join(folder, "storage"));
    await writeFile(path.join(folder, "a.parquet"), content);
    await storage.putFile("bronze/a.parquet", path.join(folder, "a.parquet"));
    return { storage, path: "bronze/a.parquet", bytes: content.length };
  }

  async function countFeatures(file: StoredParquet): Promise<number> {
    const boxes: Bounds[] = [[-180, -90, 180, 90]];
    const wanted = { boxes, columns: ["geometry"] };
    const found = [];
    for await (const feature of readFeatures(file, wanted, limits())) found.push(feature);
    return found.length;
  }

  function convert(name: string) {
    const message = { path: path.join(folder, name), target: path.join(folder, "a.csv") };
    return convertParquet({ ...message, geometryColumn: undefined }, limits());
  }

  it.each([
    ["is not packed", whole],
    ["is packed with ZSTD", writeParquet({ rows: 3, pack: zstd(999), claims: { page: 999 } })],
    ["is packed with Snappy", writeParquet({ rows: 3, pack: snappy(999), claims: { page: 999 } })],
  ])("is read when it %s", async (_how, content) => {
    const file = await put(content);
    expect(await countFeatures(file)).toBe(0);
    expect(await describeFeatures(file, limits())).toMatchObject({
      columns: ["geometry"],
      geometry: { name: "geometry", crs: "OGC:CRS84" },
    });
    expect(await convert("a.parquet")).toMatchObject({ featureCount: 3 });
    expect(await readFile(path.join(folder, "a.csv"), "utf8")).toBe('"geometry"\n\n\n\n');
  });

  it.each(attacks)("is refused with %s, and the worker goes on", async (_what, content, code) => {
    const file = await put(content);
    const refusal = { code, category: "permanent" };
    await Promise.all([
      expect(countFeatures(file)).rejects.toMatchObject(refusal),
      expect(convert("a.parquet")).rejects.toMatchObject(refusal),
    ]);
  });

  it.each(damagedFooters)(
    "is refused with %s before a page is read",
    async (_what, content, code) => {
      const bytes = Uint8Array.from(content).buffer;
      const slice = (from: number, to?: number) => Promise.resolve(bytes.slice(from, to));
      const opened = openParquetFeatures({ byteLength: bytes.byteLength, slice });
      await expect(opened).rejects.toMatchObject({ code, category: "permanent" });
    },
  );

  it("is left when its task is stopped", async () => {
    const file = await put(whole);
    const stopped = AbortSignal.abort(new Error("stopped"));
    const about = describeFeatures(file, { workDir: folder, signal: stopped });
    await expect(about).rejects.toThrow("stopped");
  });
});

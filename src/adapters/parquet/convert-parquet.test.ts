import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeParquet } from "../../../test/support/parquet-file.ts";
import { convertParquet } from "./convert-parquet.ts";

describe("a GeoParquet file", () => {
  let workDir: string;
  beforeAll(async () => {
    workDir = await mkdtemp(path.join(tmpdir(), "rmhdag-parquet-"));
  });
  afterAll(() => rm(workDir, { recursive: true, force: true }));

  async function convert(spec: Parameters<typeof writeParquet>[0], more: object = {}) {
    const [file, target] = ["a.parquet", "a.csv"].map((name) => path.join(workDir, name));
    await writeFile(file!, writeParquet(spec));
    const message = { path: file!, target: target!, geometryColumn: undefined };
    const { signal } = new AbortController();
    const facts = await convertParquet(message, { workDir, signal, ...more });
    return { ...facts, csv: await readFile(target!, "utf8") };
  }

  it("becomes a CSV in another process", async () => {
    expect(await convert({ rows: 2 })).toEqual({
      geometryColumn: "geometry",
      crs: "OGC:CRS84",
      types: new Map(),
      rawColumns: new Map(),
      featureCount: 2,
      droppedDates: 0,
      csv: '"geometry"\n\n\n',
    });
  });

  it("cannot end the worker by rows that cost no bytes", async () => {
    await expect(convert({ rows: 300_000_000 })).rejects.toMatchObject({
      code: "FORMAT_NOT_SUPPORTED",
    });
    await expect(convert({ rows: 2 ** 25 }, { heapMb: 128 })).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
      category: "permanent",
      message: expect.stringContaining("more memory") as string,
    });
  });

  it("names no other file", async () => {
    await expect(convert({ rows: 1, columnFile: "../part-0.parquet" })).rejects.toMatchObject({
      code: "EXTERNAL_REFERENCE",
      message: 'Its rows are in another file, "../part-0.parquet".',
    });
  });

  it("is left when its task is stopped", async () => {
    const signal = AbortSignal.timeout(300);
    await expect(convert({ rows: 2 ** 25 }, { signal })).rejects.toThrow(/timeout/);
  });
});

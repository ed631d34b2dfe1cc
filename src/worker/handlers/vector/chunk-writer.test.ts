import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createLocalStorage } from "../../../adapters/storage/local-storage.ts";
import { ChunkWriter } from "./chunk-writer.ts";

it("writes every row where the system takes a part of the bytes only", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-chunks-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const storage = createLocalStorage(path.join(folder, "storage"));
  const handle = await open(path.join(folder, "probe"), "w");
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { write } = handles as { write: (this: FileHandle, ...given: unknown[]) => unknown };
  const shortened = vi.spyOn(handles, "write").mockImplementation(function (
    this: FileHandle,
    ...given: unknown[]
  ) {
    const [bytes, offset, length] = given as [Buffer, number, number];
    return write.call(this, bytes, offset, Math.min(length, 100)) as never;
  });
  const writer = new ChunkWriter({
    folder: path.join(folder, "work"),
    storage,
    prefix: "silver/load",
    form: "wkb",
    chunkSize: 1000,
    signal: new AbortController().signal,
    firstIndex: 0,
  });
  const nothing = { lines: [], polygons: [] };
  for (let row = 0; row < 50; row++) {
    const parts = { points: Float64Array.of(row, 1), ...nothing };
    await writer.write("point", parts, `row ${row}`);
  }
  await writer.finish();
  shortened.mockRestore();
  const text = Buffer.from(await storage.get(writer.chunks[0]!.blob_path)).toString();
  const rows = text.trimEnd().split("\n");
  expect(rows.map((row) => row.split("\t").at(-1))).toEqual(
    Array.from({ length: 50 }, (_, row) => `row ${row}`),
  );
});

it("leaves nothing behind of rows that are no longer wanted", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-chunks-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const storage = createLocalStorage(path.join(folder, "storage"));
  const writer = new ChunkWriter({
    folder: path.join(folder, "work"),
    storage,
    prefix: "silver/load",
    form: "wkb",
    chunkSize: 10,
    signal: new AbortController().signal,
    firstIndex: 0,
  });
  // Two chunks in storage, and one that is being filled.
  for (let row = 0; row < 25; row++) {
    const parts = { points: Float64Array.of(row, 1), lines: [], polygons: [] };
    await writer.write("point", parts, "");
  }
  await writer.discard();
  expect((await storage.list("silver/")).items).toEqual([]);
  expect(await readdir(folder)).not.toContain("work");
});

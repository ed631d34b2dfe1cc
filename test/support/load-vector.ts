/** Takes vector files through the handlers of `vector_etl`, with either engine of GDAL. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { z } from "zod";
import type { Database } from "../../src/adapters/postgres/database.ts";
import type { Gdal } from "../../src/adapters/gdal/gdal.ts";
import type { vectorContracts } from "../../src/core/handlers/vector.ts";
import { prepareVector } from "../../src/worker/handlers/vector/prepare.ts";
import { publishVector, uploadChunk } from "../../src/worker/handlers/vector/upload-publish.ts";
import { createTestContext } from "./handler-context.ts";
import type { TestContext } from "./handler-context.ts";

export type Prepared = z.output<
  Extract<(typeof vectorContracts)[number], { name: "vector_prepare" }>["result"]
>;

export interface VectorTest {
  readonly test: TestContext;
  /** The path of a file of the zone bronze. */
  inBronze(name: string): string;
  place(name: string, content: string | Uint8Array): Promise<string>;
  /** Makes a file of another format with GDAL, from GeoJSON or CSV. */
  convert(name: string, source: string, content: string, ...args: string[]): Promise<string>;
  load(blobPath: string, params?: object): Promise<Prepared>;
  rows(sql: string): Promise<Record<string, unknown>[]>;
}

export async function openVectorTest(database: Database, gdal: Gdal): Promise<VectorTest> {
  const test = await createTestContext({ database, gdal });
  const inBronze = (name: string) => path.join(test.folder, "storage/bronze", name);
  await mkdir(inBronze(""), { recursive: true });
  const place = async (name: string, content: string | Uint8Array) => {
    await writeFile(inBronze(name), content);
    return `bronze/${name}`;
  };
  return {
    test,
    inBronze,
    place,
    convert: async (name, source, content, ...args) => {
      await place(source, content);
      const files = [inBronze(name), inBronze(source)];
      await gdal.run("ogr2ogr", [...args, ...files], { workDir: test.folder });
      return `bronze/${name}`;
    },
    load: async (blob_path, params = {}) => {
      const prepared = (await test.run(prepareVector, { blob_path, ...params })) as Prepared;
      for (const chunk of prepared.chunks) await test.run(uploadChunk, { chunk });
      await test.run(publishVector, { load_id: prepared.load_id });
      return prepared;
    },
    rows: async (sql) => (await database.query<Record<string, unknown>>(sql)).rows,
  };
}

export const counted = ({ findings }: Prepared) =>
  Object.fromEntries(findings.map(({ code, count }) => [code, count]));
export const typesOf = ({ columns }: Prepared) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]));

export const point = (properties: object, coordinates = [1, 2]) => ({
  type: "Feature",
  properties,
  geometry: { type: "Point", coordinates },
});
export const collection = (...features: object[]): string =>
  JSON.stringify({ type: "FeatureCollection", features });

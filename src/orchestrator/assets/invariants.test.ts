/**
 * What always holds of the governed platform, and is shown nowhere else. docs/assets.md lists all
 * fifteen invariants with the test of each; the last test here keeps that list true.
 */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest } from "../../../test/support/api.ts";
import { makeWorkflowFolder } from "../../../test/support/domain.ts";

const root = path.resolve(import.meta.dirname, "../../..");
let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  await test.storage.put("bronze/ddh/a.tif", new Uint8Array([1]));
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

async function sources(below: string): Promise<{ file: string; text: string }[]> {
  const names = await readdir(path.join(root, below), { recursive: true });
  const files = names.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  return Promise.all(
    files.map(async (name) => {
      const file = path.join(below, name);
      return { file, text: await readFile(path.join(root, file), "utf8") };
    }),
  );
}

describe("identifiers of platforms", () => {
  it("are primary keys of nothing", async () => {
    const { rows } = await test.database.db.query<{ column: string; type: string }>(
      `SELECT DISTINCT a.attname AS column, a.atttypid::regtype::text AS type
       FROM pg_index i
         JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
       WHERE i.indisprimary AND c.relnamespace = 'dagapp'::regnamespace
         AND (c.relname LIKE 'asset%' OR c.relname IN
           ('geospatial_assets', 'requests', 'layer_metadata', 'layer_catalog'))`,
    );
    const ours = ["asset_id", "event_id", "job_id", "request_id", "revision", "version_ordinal"];
    expect(rows.map(({ column }) => column).sort()).toEqual(ours);
    expect(rows.map(({ type }) => type)).not.toContain("jsonb");
  });
});

describe("the label of a version", () => {
  it("is shown and never read: ordinals decide, whatever the labels seem to say", async () => {
    const submit = (version_label: string) =>
      test.operator.submitAsset({
        body: {
          platform_id: "ddh",
          platform_refs: { dataset_id: "labels", resource_id: "r" },
          version_label,
          workflow_id: "etl_test",
          inputs: { blob_path: "ddh/a.tif" },
        },
      });
    // Descending numbers, no number, the same twice, something that looks like a deletion.
    const labels = ["V9", "V1", "Version Purple", "V1", "'; DROP TABLE x; --", "版本 二"];
    for (const [ordinal, label] of labels.entries()) {
      const { asset_id, version_ordinal, version_label, job_id } = await submit(label);
      expect([version_ordinal, version_label]).toEqual([ordinal, label]);
      for (const task of await test.engine.take(job_id)) {
        await test.engine.complete(task, { blob_path: `silver/${ordinal}.tif` });
      }
      await test.engine.tick();
      const params = { asset_id, version_ordinal };
      const asset = await test.curator.approveVersion({ params, body: { clearance: "ouo" } });
      expect(asset.latest_approved_version_ordinal).toBe(ordinal);
      expect(asset.services.map(({ version }) => version)).toEqual(["latest"]);
    }
  });
});

describe("the model of jobs", () => {
  it("knows nothing of platforms and assets, in the database and in the code", async () => {
    const { rows } = await test.database.db.query<{ column: string }>(
      `SELECT table_name || '.' || column_name AS column FROM information_schema.columns
       WHERE table_schema = 'dagapp' AND table_name LIKE 'dag\\_%'
         -- A list of exports under the name that the reference architecture gives it.
         AND table_name <> 'dag_promoted'
         AND column_name ~ '(platform|asset|version_ordinal|clearance|approval)'`,
    );
    expect(rows).toEqual([]);
    const files = await sources("src/core/dag");
    expect(files.length).toBeGreaterThan(10);
    for (const { file, text } of files) {
      expect(text, file).not.toMatch(/\/domain\/|model\/(?:asset|platform|version|request)\.ts/);
    }
  });
});

describe("the database", () => {
  it("is spoken to by adapters alone, and its rows are read by name", async () => {
    const files = await sources("src");
    expect(files.length).toBeGreaterThan(300);
    for (const { file, text } of files) {
      expect(text, file).not.toMatch(/rowMode/);
      if (file.startsWith("src/adapters/")) continue;
      expect(text, file).not.toMatch(/\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:dagapp|gateway)\./);
    }
  });
});

describe("the list of invariants", () => {
  it("names a test for each of the fifteen", async () => {
    const text = await readFile(path.join(root, "docs/assets.md"), "utf8");
    const rows = [...text.matchAll(/^\| (\d+) +\|[^|]+\| `([^`]+)`: ([^|]+?) +\|$/gm)];
    expect(rows.map(([, number]) => Number(number))).toEqual(
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
    for (const [, number, file = "", name = ""] of rows) {
      const source = await readFile(path.join(root, file), "utf8");
      expect(source.includes(name), `${number ?? ""}: ${file} has no test "${name}"`).toBe(true);
    }
  });
});

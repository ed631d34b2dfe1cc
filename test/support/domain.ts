import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import { createSourceResolver } from "../../src/adapters/storage/resolve-source.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import type { AssetDeps } from "../../src/orchestrator/assets/deps.ts";
import { createAssetMutex } from "../../src/orchestrator/assets/deps.ts";
import type { TestDatabase } from "./database.ts";
import type { TestEngine } from "./engine.ts";

export const signingKey = "a key for tests, of more than 32 characters";

/** With a pool of its own, as in wiring.ts: a verb that waits for an asset keeps no reader waiting. */
export function makeDomain(
  database: Pick<TestDatabase, "url">,
  engine: TestEngine,
  storage: Storage,
): AssetDeps {
  return {
    db: openDatabase({ url: database.url, applicationName: "test domain", max: 4 }),
    engine: engine.deps,
    sources: createSourceResolver({
      storage,
      https: {
        allowedHosts: ["data.example.org"],
        // The name resolves to this machine, where no server listens on port 443.
        lookup: async () => [{ address: "127.0.0.1", family: 4 }],
      },
      mounts: [],
    }),
    callbacks: { signingKey, jobHosts: ["hooks.example.org"] },
    mutex: createAssetMutex(),
  };
}

/** Processes a version in one task; its output, which the test chooses, is the job's result. */
const etl = `
workflow_id: etl_test
name: A stand-in for the real ones
version: "1.0"
inputs:
  blob_path: { required: true }
  container: { default: bronze }
  target_crs: { default: "EPSG:4326" }
  mode: { enum: [fast, slow], default: fast }
  asset_id: { default: none }
  revision: { type: integer, default: 0 }
nodes:
  process:
    handler: echo
    params: { asset_id: "{{ inputs.asset_id }}", revision: "{{ inputs.revision }}" }
outputs:
  blob_path: "{{ nodes.process.output.blob_path | default(none) }}"
  table_name: "{{ nodes.process.output.table_name | default(none) }}"
  stac_collection_id: "{{ nodes.process.output.stac_collection_id | default(none) }}"
  stac_item_id: "{{ nodes.process.output.stac_item_id | default(none) }}"
  content_hash: "{{ nodes.process.output.content_hash | default(none) }}"
  log: "made by {{ job.job_id }}"
`;

/** The workflows that ship, and `etl_test`. */
export async function makeWorkflowFolder(): Promise<{
  readonly folder: string;
  remove(): Promise<void>;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-workflows-"));
  await cp(path.resolve(import.meta.dirname, "../../workflows"), folder, { recursive: true });
  await writeFile(path.join(folder, "etl_test.yaml"), etl);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createGdal } from "../../src/adapters/gdal/create-gdal.ts";
import type { Gdal } from "../../src/adapters/gdal/gdal.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { createSourceResolver } from "../../src/adapters/storage/resolve-source.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import type { Handler, HandlerContext, SavedCheckpoint } from "../../src/worker/define-handler.ts";

/** For what never opens a file. */
export const noGdal: Gdal = {
  engine: "native",
  version: "none",
  sandbox: "none",
  unusable: [],
  capabilities: { rasterDrivers: [], vectorDrivers: [], codecs: [], programs: [] },
  run: async () => {
    throw new Error("This test has no GDAL.");
  },
};

export interface TestContext {
  readonly context: HandlerContext;
  readonly storage: Storage;
  /** Everything lies below it. */
  readonly folder: string;
  readonly logged: string[];
  readonly progress: number[];
  readonly checkpoints: SavedCheckpoint[];
  /** Checks the parameters and the result against the contract, as the worker does. */
  run(handler: Handler, params: unknown): Promise<unknown>;
  dispose(): Promise<void>;
}

/** What a handler gets from a worker, on folders of its own: real storage, real GDAL. */
export async function createTestContext(
  given: {
    readonly gdal?: Gdal;
    readonly database?: Database;
    readonly signal?: AbortSignal;
    readonly allowedHosts?: readonly string[];
    /** Without a certificate there is only `http:`. */
    readonly schemes?: readonly string[];
  } = {},
): Promise<TestContext> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-handler-"));
  const [workDir, mountDir] = [path.join(folder, "work"), path.join(folder, "mount")];
  for (const each of [workDir, mountDir]) await mkdir(each);
  const storage = createLocalStorage(path.join(folder, "storage"));
  const logged: string[] = [];
  const progress: number[] = [];
  const checkpoints: SavedCheckpoint[] = [];
  const keep = (message: string) => {
    logged.push(message);
  };
  const context: HandlerContext = {
    task_id: "job-1_node-1_0",
    job_id: "job-1",
    node_id: "node-1",
    attempt: 0,
    signal: given.signal ?? new AbortController().signal,
    logger: { debug: keep, info: keep, warn: keep, error: keep },
    progress: (percent) => {
      progress.push(percent);
    },
    checkpoint: {
      load: async () => checkpoints.at(-1),
      save: async (phase, data) => {
        checkpoints.push({ phase, data });
      },
    },
    stream: (param) => {
      throw new Error(`This test has no task with the parameter ${param}.`);
    },
    storage,
    sources: createSourceResolver({
      storage,
      https: {
        allowedHosts: given.allowedHosts ?? [],
        ...(given.schemes === undefined ? {} : { schemes: given.schemes }),
      },
      mounts: [mountDir],
    }),
    gdal: given.gdal ?? (await createGdal()),
    database: given.database,
    workDir,
    mountDir,
    environment: process.env,
  };
  return {
    context,
    storage,
    folder,
    logged,
    progress,
    checkpoints,
    run: async (handler, params) => {
      const result = await handler.run(handler.contract.params.parse(params), context);
      return handler.contract.result.parse(result);
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}

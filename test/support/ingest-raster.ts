/** Takes a raster through the handlers of `raster_ingest`, and opens the result as the map does. */
import { createDiskCache } from "../../src/adapters/tiles/disk-cache.ts";
import { createRasterServer } from "./raster-server.ts";
import type { RasterServer } from "../../src/adapters/tiles/raster-server.ts";
import { findItem } from "../../src/adapters/postgres/queries/catalogue-items.ts";
import type { StacItem } from "../../src/core/catalogue/stac.ts";
import { seesAll } from "../../src/core/domain/served-version.ts";
import type { RasterFacts } from "../../src/core/raster/facts.ts";
import type { RasterFinding } from "../../src/core/raster/finding.ts";
import { layerOfItem } from "../../src/core/serving/layer-of-item.ts";
import type { RasterLayer } from "../../src/core/serving/layer.ts";
import { createCog } from "../../src/worker/handlers/raster/create-cog-reproject.ts";
import { validate } from "../../src/worker/handlers/raster/validate-check-homogeneity.ts";
import { ensureCollection, registerItem } from "../../src/worker/handlers/stac/ensure-register.ts";
import type { TestContext } from "./handler-context.ts";

export interface Judged {
  readonly verdict: string;
  readonly raster_type: string;
  readonly dtype: string;
  readonly can_visualize: boolean;
  readonly findings: readonly RasterFinding[];
}
export interface Made {
  readonly blob_path: string;
  readonly facts: RasterFacts;
  readonly findings: readonly RasterFinding[];
}
export interface Ingested {
  readonly judged: Judged;
  readonly made: Made;
  readonly visual: Made | undefined;
  readonly item: StacItem;
  readonly layer: RasterLayer;
}

/** `file` is put into storage under the name; `params` are inputs of the workflow. */
export async function ingestRaster(
  test: TestContext,
  name: string,
  file: string,
  params: Readonly<Record<string, unknown>> = {},
  { withVisual = true }: { readonly withVisual?: boolean } = {},
): Promise<Ingested> {
  const blob_path = `bronze/${name}`;
  await test.storage.putFile(blob_path, file);
  const { datetime, ...described } = params;
  const judged = (await test.run(validate, { blob_path, ...described })) as Judged;
  const output = name.replaceAll(/[^\w]/g, "_");
  const made = (await test.run(createCog, {
    blob_path,
    raster_type: judged.raster_type,
    ...described,
    output_path: `silver/${output}.tif`,
  })) as Made;
  const visual =
    judged.can_visualize && withVisual
      ? ((await test.run(createCog, {
          blob_path: made.blob_path,
          raster_type: judged.raster_type,
          tier: "visualization",
          output_path: `silver/${output}_visual.tif`,
        })) as Made)
      : undefined;
  await test.run(ensureCollection, { collection_id: "c" });
  const { item_id } = (await test.run(registerItem, {
    collection_id: "c",
    item_id: output,
    datetime,
    blob_path: made.blob_path,
    facts: made.facts,
    visual,
  })) as { item_id: string };
  const item = await findItem(test.context.database!, seesAll, "c", item_id);
  const layer = layerOfItem(item);
  if (item === undefined || layer?.kind !== "raster") throw new Error(`no layer of ${name}`);
  return { judged, made, visual, item, layer };
}

/** A server of tiles over the storage of the test. */
export function serveRasters(test: TestContext): RasterServer {
  return createRasterServer({
    storage: test.storage,
    disk: createDiskCache(`${test.folder}/tiles`, 10_000_000),
  });
}

/** The rasters that a computation reads: a path, an item, or the items of a collection. */
import { searchItems } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { findH3Source } from "../../../adapters/postgres/queries/h3.ts";
import type { Database } from "../../../adapters/postgres/database.ts";
import type { Owner } from "../../../core/catalogue/owner.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import type { H3Source } from "../../../core/h3/configuration.ts";
import { layerOfItem } from "../../../core/serving/layer-of-item.ts";
import { PermanentError } from "../../errors.ts";

export interface FoundRaster {
  readonly blob_path: string;
  readonly period: string;
}

const mostItems = 1000;
/** Without a time of its own. */
const always = "static";

export async function findSources(
  db: Database,
  source: H3Source,
  owner: Owner | undefined,
): Promise<readonly FoundRaster[]> {
  const { blob_path, collection_id, item_id } = source;
  if (blob_path != null) return [{ blob_path, period: always }];
  // A partner's job reads items of public clearance, and its own files by their paths.
  const viewer = owner?.kind === "version" ? { reads: false, curates: false } : seesAll;
  const filter = {
    collections: [collection_id ?? ""],
    ...(item_id == null ? {} : { ids: [item_id] }),
  };
  const { items } = await searchItems(db, viewer, { filter, sort: [], limit: mostItems });
  const rasters = items.flatMap(({ item }) => {
    const layer = layerOfItem(item);
    return layer?.kind === "raster" ? [{ blob_path: layer.data_path, period: periodOf(item) }] : [];
  });
  if (rasters.length > 0) return rasters;
  const named = item_id == null ? "" : ` named "${item_id}"`;
  throw new PermanentError(`"${collection_id ?? ""}" has no raster${named} that may be read.`, {
    code: "SOURCE_NOT_FOUND",
  });
}

/** The given source, or the recorded source of this raster. */
export async function chooseSource(
  db: Database,
  raster: string,
  given: H3Source,
): Promise<{ readonly source: H3Source; readonly configuration: object }> {
  if (given.blob_path != null || given.collection_id != null) {
    return { source: given, configuration: {} };
  }
  const known = await findH3Source(db, raster);
  if (known !== undefined) return known;
  throw new PermanentError(
    `No source is given, and none is recorded for "${raster}": give blob_path or collection_id, or record it with rmhdag h3 sources add.`,
    { code: "SOURCE_NOT_FOUND" },
  );
}

function periodOf({ properties }: StacItem): string {
  if (properties["rmhdag:datetime_source"] === "unknown") return always;
  return (properties.datetime ?? properties.start_datetime ?? always).slice(0, 10);
}

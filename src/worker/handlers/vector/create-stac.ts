import { version } from "../../../adapters/runtime/version.ts";
import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import type { GeoTable } from "../../../adapters/postgres/queries/geo-tables.ts";
import { findGeoTable } from "../../../adapters/postgres/queries/geo-tables.ts";
import {
  ensureCollection,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { buildCollection } from "../../../core/catalogue/collection.ts";
import { chooseTime } from "../../../core/catalogue/moment.ts";
import { buildVectorItem } from "../../../core/catalogue/vector-item.ts";
import { namesOf } from "../../../core/catalogue/owner.ts";
import { versionItemId } from "../../../core/domain/platform-names.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";

/** Handler vector_create_stac: registers an item of the catalogue for each published table. */
export const createVectorStac = defineHandler("vector_create_stac", async (params, context) => {
  const { collection_id, title, datetime } = params;
  const database = requireDatabase(context);
  const tables = await Promise.all(
    params.tables.map(async (name) => {
      const table = await findGeoTable(database, name);
      if (table !== undefined) return table;
      throw new PermanentError(`There is no published layer "${name}": publish it first.`, {
        code: "TABLE_NOT_FOUND",
      });
    }),
  );
  const owner = await ownerOfJob(database, context.job_id);
  const wanted = params.item_id ?? (owner?.kind === "version" ? versionItemId(owner) : undefined);
  const items = tables.map((table) => {
    const item_id = itemId(table, wanted, tables);
    const writtenAt = table.published_at.toISOString();
    return buildVectorItem({
      collection_id,
      item_id,
      title: title ?? undefined,
      bbox: table.bounds ?? [-180, -90, 180, 90],
      time: chooseTime({ datetime }, null, writtenAt),
      table_name: table.table_name,
      feature_count: table.feature_count,
      geometry_type: table.geometry_type,
      columns: table.columns,
      transformation: params.transformations?.[table.table_name],
      processing: {
        datetime: writtenAt,
        software: { rmhdagmaster: version, GDAL: context.gdal.version },
        ...(params.source_path == null
          ? {}
          : { lineage: `Made from ${params.source_path}.`, derived_from: params.source_path }),
      },
      platform: namesOf(owner) ?? params.platform,
      properties: params.properties,
    });
  });
  await ensureCollection(database, buildCollection({ collection_id, license: "other" }), owner);
  const { item_ids } = await upsertItems(database, collection_id, items, owner);
  const [first] = items;
  if (first === undefined) throw new Error("there is a table, so there is an item");
  return { collection_id, item_id: first.id, item_ids };
});

/**
 * The id of a table's item. With several tables, the kind of geometry is appended to the given id, or
 * the table's name if the file had several layers.
 */
function itemId(table: GeoTable, wanted: string | undefined, tables: readonly GeoTable[]): string {
  if (wanted === undefined) return table.table_name;
  if (tables.length === 1) return wanted;
  const types = new Set(tables.map((each) => each.geometry_type));
  const isOneLayer = types.size === tables.length;
  return `${wanted}_${isOneLayer ? table.geometry_type.replace("Multi", "").toLowerCase() : table.table_name}`;
}

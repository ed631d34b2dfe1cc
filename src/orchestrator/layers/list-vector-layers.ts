import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import { searchItems } from "../../adapters/postgres/queries/catalogue-items.ts";
import { findGeoTables } from "../../adapters/postgres/queries/geo-tables.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { StacLink } from "../../core/catalogue/stac.ts";
import type { Viewer } from "../../core/domain/served-version.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { layerOfItem } from "../../core/serving/layer-of-item.ts";
import { layerIdOf } from "../../core/serving/ogc-documents.ts";
import { collectionDocument } from "../../core/serving/vector-documents.ts";

/** A page of the vector layers that a viewer may see, by collection and item of the catalogue. */
export async function listVectorLayers(
  db: Queryable,
  viewer: Viewer,
  { limit, token, base }: { limit: number; token?: string | undefined; base: string },
): Promise<{ collections: JsonObject[]; links: StacLink[] }> {
  const sort = ["collection", "id"].map((name) => ({ path: [name], descending: false }));
  const after = decodeCursor(token, z.array(z.string().max(4096)).length(sort.length + 2));
  const page = await searchItems(db, viewer, { filter: { hasTable: true }, sort, limit, after });
  const layers = page.items.flatMap(({ item }) => {
    const layer = layerOfItem(item);
    return layer?.kind === "vector" ? [{ id: layerIdOf(item), layer }] : [];
  });
  const tables = await findGeoTables(
    db,
    layers.map(({ layer }) => layer.table),
  );
  const address = `${base}/ogc/collections`;
  const link = (rel: string, query: string) => ({
    rel,
    type: "application/json",
    href: `${address}${query}`,
  });
  const last = page.items.at(-1)?.place;
  return {
    collections: layers.flatMap(({ id, layer }) => {
      const table = tables.get(layer.table);
      if (table === undefined) return [];
      return [
        collectionDocument(layer, table, { id, address: `${address}/${encodeURIComponent(id)}` }),
      ];
    }),
    links: [
      link("self", ""),
      ...(page.more && last !== undefined
        ? [link("next", `?limit=${limit}&token=${encodeURIComponent(encodeCursor(last))}`)]
        : []),
    ],
  };
}

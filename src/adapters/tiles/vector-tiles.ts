import type { Tile } from "../../core/serving/web-mercator.ts";
import { tileBounds } from "../../core/serving/web-mercator.ts";
import { layerName } from "../../core/serving/vector-documents.ts";
import type { Queryable } from "../postgres/queryable.ts";
import { postgisTile, tileFeatures } from "../postgres/queries/feature-tiles.ts";
import type { GeoTable } from "../postgres/queries/geo-tables.ts";
import { encodeVectorTile } from "./encode-vector-tile.ts";
import { createLru } from "./lru.ts";
import { createMergeRequests } from "./merge-requests.ts";

/** As TiPG has them. */
const conventions = { extent: 4096, buffer: 256, layer: layerName, mostFeatures: 10_000 } as const;
const keptBytes = 64 * 1024 * 1024;
/** An empty tile weighs nothing and still takes a place. */
const leastWeight = 200;

export interface VectorTiles {
  /** Empty: nothing is there. */
  make(table: GeoTable, tile: Tile, signal: AbortSignal): Promise<Uint8Array>;
}

/** A load never changes, so a tile that was made stays right for as long as it is kept. */
export function createVectorTiles(db: Queryable): VectorTiles {
  const kept = createLru<Uint8Array>(keptBytes, (tile) => tile.length + leastWeight);
  const merge = createMergeRequests<Uint8Array>();

  return {
    make: async (table, tile, signal) => {
      const { z, x, y } = tile;
      const key = `${table.table_name}/${table.load_id}/${z}/${x}/${y}`;
      const found = kept.get(key);
      if (found !== undefined) return found;
      return merge(key, signal, async () => {
        const made = await build(db, table, tile);
        kept.set(key, made);
        return made;
      });
    },
  };
}

async function build(db: Queryable, table: GeoTable, tile: Tile): Promise<Uint8Array> {
  const query = { ...tile, ...conventions, columns: table.columns };
  if (table.form === "postgis") return postgisTile(db, table, query);
  const margin = conventions.buffer / conventions.extent;
  const reach = tileBounds(tile.z, tile.x, tile.y, margin);
  const features = await tileFeatures(db, table, reach, query);
  return features.length === 0 ? new Uint8Array(0) : encodeVectorTile(features, query);
}

/**
 * Finds the layer at the address of a catalogue item. Every request asks the database whether the item
 * is there and its viewer may see it. The layer that was read from the item is cached by the version of
 * its row, so that a tile does not read and check kilobytes of JSON that have not changed.
 */
import { LRUCache } from "lru-cache";
import type { KnownItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import { findChangedItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Layer } from "../../core/serving/layer.ts";
import { layerOfItem } from "../../core/serving/layer-of-item.ts";
import type { ItemRequest } from "./check-clearance.ts";
import { hiddenOrMissing, viewerOf } from "./check-clearance.ts";

/** A mosaic may have thousands of members, so few layers are kept. */
const mostLayers = 200;

export interface ItemLayers {
  readonly find: (request: ItemRequest) => Promise<Layer>;
  /** The cached layer, for a statement that checks `item` itself before it reads the layer. */
  readonly cached: (request: ItemRequest) => CachedLayer | undefined;
}

export interface CachedLayer {
  readonly item: KnownItem;
  readonly layer: Layer;
}

export function createItemLayers(db: Queryable): ItemLayers {
  const known = new LRUCache<string, { readonly version: string; readonly layer: Layer }>({
    max: mostLayers,
  });
  const keyOf = ({ params: { collection_id, item_id } }: ItemRequest) =>
    JSON.stringify([collection_id, item_id]);

  return {
    async find(request) {
      const { collection_id, item_id } = request.params;
      const viewer = viewerOf(request.caller);
      const key = keyOf(request);
      const before = known.get(key);
      const ids = { collectionId: collection_id, itemId: item_id };
      const found = await findChangedItem(db, viewer, ids, before?.version ?? "");
      if (found?.item === null && before !== undefined) return before.layer;
      const layer = found === undefined ? undefined : layerOfItem(found.item);
      if (found !== undefined && layer !== undefined) {
        known.set(key, { version: found.version, layer });
        return layer;
      }
      known.delete(key);
      const detail = `"${collection_id}" has no item "${item_id}" that can be shown.`;
      throw hiddenOrMissing(viewer, "ITEM_NOT_FOUND", detail);
    },

    cached(request) {
      const found = known.get(keyOf(request));
      if (found === undefined) return undefined;
      const { collection_id, item_id } = request.params;
      const { version, layer } = found;
      const viewer = viewerOf(request.caller);
      return { item: { viewer, collectionId: collection_id, itemId: item_id, version }, layer };
    },
  };
}

import type { Caller } from "../../adapters/http/handler.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import { layerOfItem } from "../../core/serving/layer-of-item.ts";
import type { Layer } from "../../core/serving/layer.ts";
import { notThere, viewerOf } from "./check-clearance.ts";

export interface ItemRequest {
  readonly params: { readonly collection_id: string; readonly item_id: string };
  readonly caller: Caller | undefined;
}

/** The layer that an item of the catalogue is, for who may see it. */
export async function findItemLayer(
  db: Queryable,
  { params, caller }: ItemRequest,
): Promise<Layer> {
  const viewer = viewerOf(caller);
  const { collection_id, item_id } = params;
  const layer = layerOfItem(await findItem(db, viewer, collection_id, item_id));
  if (layer !== undefined) return layer;
  const detail = `"${collection_id}" has no item "${item_id}" that can be shown.`;
  throw notThere(viewer, "ITEM_NOT_FOUND", detail);
}

/** Where its addresses hang, as a path. */
export function itemBase({ params }: Pick<ItemRequest, "params">): string {
  const { collection_id, item_id } = params;
  return `/stac/collections/${encodeURIComponent(collection_id)}/items/${encodeURIComponent(item_id)}`;
}

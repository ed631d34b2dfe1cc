import { useRef } from "react";
import { getJson } from "../shared/api.ts";
import type { Loaded } from "../shared/query-client.ts";
import { useQuery } from "../shared/query-client.ts";
import type { TileSource } from "./layer.ts";
import { readTileSource } from "./layer.ts";

/**
 * The tiles that a TileJSON address describes; null where there is nothing to show. While the same
 * layer is read with another look, the last one stays: the map neither empties nor moves.
 */
export function useTiles(address: string | undefined): Loaded<TileSource | null> {
  const loaded = useQuery(`tiles ${address ?? ""}`, async (signal) =>
    address === undefined ? null : (readTileSource(await getJson(address, signal)) ?? null),
  );
  const layer = layerOf(address);
  const last = useRef({ layer, data: loaded.data });
  if (loaded.data !== undefined || last.current.layer !== layer) {
    last.current = { layer, data: loaded.data };
  }
  return { ...loaded, data: last.current.data };
}

/** Its address, and which version of it. */
function layerOf(address: string | undefined): string {
  const [path = "", query] = (address ?? "").split("?");
  return `${path} ${new URLSearchParams(query).get("version") ?? ""}`;
}

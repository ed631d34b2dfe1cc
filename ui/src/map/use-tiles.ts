import { getJson } from "../api.ts";
import type { Loaded } from "../live/use-query.ts";
import { useQuery } from "../live/use-query.ts";
import type { TileSource } from "./layer.ts";
import { readTileSource } from "./layer.ts";

/** The tiles that a TileJSON address describes; null where there is nothing to show. */
export function useTiles(address: string | undefined): Loaded<TileSource | null> {
  return useQuery(`tiles ${address ?? ""}`, async (signal) =>
    address === undefined ? null : (readTileSource(await getJson(address, signal)) ?? null),
  );
}

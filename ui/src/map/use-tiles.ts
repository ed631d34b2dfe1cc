import type { UseQueryResult } from "@tanstack/react-query";
import { useQuery } from "@tanstack/react-query";
import { getJson } from "../shared/api.ts";
import type { TileSource } from "./layer.ts";
import { readTileSource } from "./layer.ts";

/**
 * Reads the TileJSON at an address; null where there is nothing to show. While the same layer is read
 * in another style, the previous tiles stay: the map neither empties nor moves.
 */
export function useTiles(address: string | undefined): UseQueryResult<TileSource | null> {
  return useQuery({
    queryKey: ["tiles", address],
    queryFn: async ({ signal }) =>
      address === undefined ? null : (readTileSource(await getJson(address, signal)) ?? null),
    placeholderData: (previous, previousQuery) =>
      layerOf(previousQuery?.queryKey[1]) === layerOf(address) ? previous : undefined,
  });
}

/** The part of the address that names a layer and its version, without its style. */
function layerOf(address: string | undefined): string {
  const [path = "", query] = (address ?? "").split("?");
  return `${path} ${new URLSearchParams(query).get("version") ?? ""}`;
}

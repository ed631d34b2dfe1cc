import type { LayerMetadata } from "../../../src/core/api/metadata.ts";
import { ApiError, api } from "../shared/api.ts";
import type { Loaded } from "../shared/query-client.ts";
import { useQuery } from "../shared/query-client.ts";

/** What is stored of how an asset is shown; an asset of which nobody has said anything has null. */
export function useMetadata(assetId: string): Loaded<{ readonly stored: LayerMetadata | null }> {
  return useQuery(`metadata ${assetId}`, async (signal) => {
    try {
      return { stored: await api.getLayerMetadata({ params: { asset_id: assetId }, signal }) };
    } catch (error) {
      if (error instanceof ApiError && error.code === "METADATA_NOT_FOUND") return { stored: null };
      throw error;
    }
  });
}

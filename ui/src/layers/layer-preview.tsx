import { useMemo, useState } from "react";
import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { hasLayer } from "../../../src/core/domain/service-urls.ts";
import { firstFeature } from "../map/first-feature.ts";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import { PickedValues } from "../map/picked-values.tsx";
import type { Picked } from "../map/map-view.tsx";
import { SwipeMap } from "../map/swipe.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { errorText, getJson, useAccess } from "../shared/api.ts";
import { Notice } from "../shared/states.tsx";
import type { StyleDraft } from "./style-draft.ts";
import { tileQuery } from "./style-draft.ts";

/** A version on the map, beside the approved version if there is one, and the values at a click. */
export function LayerPreview({
  asset,
  version,
  draft,
  served,
}: {
  asset: Asset;
  version: AssetVersion;
  draft: StyleDraft;
  /** The style of the approved version, which the draft does not change. */
  served: StyleDraft;
}) {
  const [picked, setPicked] = useState<unknown>();
  const preview = useAccess("curate");
  const approved = approvedBeside(asset, version);
  const addressOf = (shown: AssetVersion | undefined, query: string) =>
    shown === undefined || !hasLayer(shown)
      ? undefined
      : layerAddress(shown, { preview }) + (query === "" ? "" : `&${query}`);
  const address = addressOf(version, tileQuery(draft));
  const tiles = useTiles(address);
  const oldTiles = useTiles(addressOf(approved, ""));
  const layers = useLayers("version", tiles.data, draft);
  const oldLayers = useLayers("approved", oldTiles.data, served);

  async function pick(shown: AssetVersion, where: Picked): Promise<void> {
    const { lng, lat } = where;
    const [first] = where.properties;
    if (first !== undefined) setPicked(first);
    else if (shown.table_name === null) {
      const part = `/point/${lng.toFixed(6)},${lat.toFixed(6)}`;
      const point = layerAddress(shown, { preview, part });
      setPicked(await getJson(point).catch((error: unknown) => errorText(error)));
    } else {
      const items = layerAddress(shown, { preview, root: "features", part: "/items" });
      setPicked(await firstFeature(items, where));
    }
  }

  if (address === undefined) {
    return (
      <Notice icon="map" title="Nothing to show yet">
        <p>
          {version.processing_error ??
            "The version has no data: its processing is not finished, or its workflow names no outputs."}
        </p>
      </Notice>
    );
  }
  return (
    <div className="stack">
      {approved === undefined ? (
        <div className="map-box">
          <LazyMap
            label={`Version ${version.version_label}`}
            layers={layers}
            bounds={tiles.data?.bounds}
            onPick={(where) => void pick(version, where)}
          />
        </div>
      ) : (
        <SwipeMap
          before={{
            name: `approved: ${approved.version_label}`,
            layers: oldLayers,
            onPick: (where) => void pick(approved, where),
          }}
          after={{
            name: `this: ${version.version_label}`,
            layers,
            onPick: (where) => void pick(version, where),
          }}
          bounds={tiles.data?.bounds}
        />
      )}
      {tiles.error === null ? null : (
        <p className="error-text" role="alert">
          The layer cannot be shown: {errorText(tiles.error)}
        </p>
      )}
      <PickedValues values={picked} />
    </div>
  );
}

/** The approved version that is served now, unless it is the given one. */
function approvedBeside(asset: Asset, version: AssetVersion): AssetVersion | undefined {
  return asset.versions.find(
    ({ version_ordinal, approval_state }) =>
      version_ordinal === asset.latest_approved_version_ordinal &&
      approval_state === "approved" &&
      version_ordinal !== version.version_ordinal,
  );
}

function useLayers(
  id: string,
  tilejson: ReturnType<typeof useTiles>["data"],
  { vector }: StyleDraft,
): MapLayer[] {
  return useMemo(
    () => (tilejson == null ? [] : [{ kind: "tiles", id, tilejson, style: vector }]),
    [id, tilejson, vector],
  );
}

/**
 * The address of a version's TileJSON, or of a part of the layer. Only curators may preview a version
 * that is not approved; for all others the server answers with the reason why it is not served.
 */
function layerAddress(
  { asset_id, version_ordinal }: Pick<AssetVersion, "asset_id" | "version_ordinal">,
  {
    preview,
    root = "tiles",
    part = "",
  }: { readonly preview: boolean; readonly root?: "tiles" | "features"; readonly part?: string },
): string {
  const address = `/${root}/${encodeURIComponent(asset_id)}${part}?version=${version_ordinal}`;
  return preview ? `${address}&preview=true` : address;
}

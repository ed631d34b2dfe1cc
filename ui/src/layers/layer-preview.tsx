import { useMemo, useState } from "react";
import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { explain, getJson, session } from "../shared/api.ts";
import { useStore } from "../shared/store.ts";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import type { Picked } from "../map/map-view.tsx";
import { PickedValues } from "../map/picked-values.tsx";
import { SwipeMap } from "../map/swipe.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { Notice } from "../shared/states.tsx";
import type { LayerLook } from "./style-draft.ts";
import { lookQuery } from "./style-draft.ts";
import { hasLayer, layerAddress } from "../assets/asset-status.ts";

/** The version on a map, beside the approved one if there is one, and what lies under a click. */
export function LayerPreview({
  asset,
  version,
  look,
}: {
  asset: Asset;
  version: AssetVersion;
  look: LayerLook;
}) {
  const [picked, setPicked] = useState<unknown>();
  const preview = useStore(session)?.access.includes("curate") ?? false;
  const approved = approvedBeside(asset, version);
  const query = lookQuery(look);
  const addressOf = (shown: AssetVersion | undefined) =>
    shown === undefined || !hasLayer(shown)
      ? undefined
      : layerAddress(shown, { preview }) + (query === "" ? "" : `&${query}`);
  const address = addressOf(version);
  const tiles = useTiles(address);
  const oldTiles = useTiles(addressOf(approved));
  const layers = useLayers("version", tiles.data, look);
  const oldLayers = useLayers("approved", oldTiles.data, look);

  async function pick({ lng, lat, properties: [first] }: Picked): Promise<void> {
    if (first !== undefined) setPicked(first);
    else if (version.table_name === null) {
      const part = `/point/${lng.toFixed(6)},${lat.toFixed(6)}`;
      const point = layerAddress(version, { preview, part });
      setPicked(await getJson(point).catch((error: unknown) => explain(error)));
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
            onPick={(where) => void pick(where)}
          />
        </div>
      ) : (
        <SwipeMap
          before={{ name: `approved: ${approved.version_label}`, layers: oldLayers }}
          after={{ name: `this: ${version.version_label}`, layers }}
          bounds={tiles.data?.bounds}
          onPick={(where) => void pick(where)}
        />
      )}
      {tiles.error === undefined ? null : (
        <p className="error-text" role="alert">
          The layer cannot be shown: {explain(tiles.error)}
        </p>
      )}
      <PickedValues values={picked} />
    </div>
  );
}

/** The version that is served now, unless it is this one. */
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
  { vector }: LayerLook,
): MapLayer[] {
  return useMemo(
    () => (tilejson == null ? [] : [{ kind: "tiles", id, tilejson, style: vector }]),
    [id, tilejson, vector],
  );
}

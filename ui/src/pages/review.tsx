import { useMemo, useState } from "react";
import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { api, explain, getJson } from "../api.ts";
import { Decide } from "../assets/decide.tsx";
import { Facts } from "../assets/facts.tsx";
import { approvalLook, itemAddress, processingLook, refsText, tilesOf } from "../assets/look.ts";
import type { Look } from "../assets/style-editor.tsx";
import { StyleEditor, lookQuery, noLook } from "../assets/style-editor.tsx";
import { useQuery } from "../live/use-query.ts";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import type { Picked } from "../map/map-view.tsx";
import { SwipeMap } from "../map/swipe.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { Badge, Chip } from "../parts/chip.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Await, Notice } from "../parts/states.tsx";
import { Link } from "../router.tsx";

export default function Review({ params }: { params: Readonly<Record<string, string>> }) {
  const assetId = params["assetId"] ?? "";
  const ordinal = Number(params["ordinal"] ?? "0");
  const loaded = useQuery(
    `asset ${assetId}`,
    (signal) => api.getAsset({ params: { asset_id: assetId }, signal }),
    { everyMs: 5000 },
  );
  const version = loaded.data?.versions.find((each) => each.version_ordinal === ordinal);
  return (
    <Page
      title="Review"
      heading={
        <>
          Review{" "}
          <Link to={`/assets/${assetId}`}>
            {loaded.data === undefined ? "" : refsText(loaded.data.platform_refs)}
          </Link>
          {version === undefined ? null : (
            <>
              <Badge>
                {version.version_label} #{version.version_ordinal}
              </Badge>
              <Chip
                status={processingLook[version.processing_state]}
                text={version.processing_state}
              />
              <Chip
                status={approvalLook[version.approval_state]}
                text={version.approval_state.replace("_", " ")}
              />
            </>
          )}
        </>
      }
      actions={
        loaded.data === undefined || version === undefined ? null : (
          <Decide asset={loaded.data} version={version} done={loaded.reload} />
        )
      }
    >
      <Await loaded={loaded} what="the asset">
        {(asset) =>
          version === undefined ? (
            <Notice icon="search" title="The asset has no such version">
              <p>Choose one of its versions on the page of the asset.</p>
            </Notice>
          ) : (
            <ReviewBody asset={asset} version={version} />
          )
        }
      </Await>
    </Page>
  );
}

function ReviewBody({ asset, version }: { asset: Asset; version: AssetVersion }) {
  const [look, setLook] = useState<Look>(noLook);
  const [picked, setPicked] = useState<unknown>();
  const approved = asset.versions.find(
    ({ version_ordinal, approval_state }) =>
      version_ordinal === asset.latest_approved_version_ordinal &&
      approval_state === "approved" &&
      version_ordinal !== version.version_ordinal,
  );
  const plain = tilesOf(version);
  const query = lookQuery(look);
  const tiles = useTiles(plain === undefined ? undefined : `${plain}${query}`);
  const oldTiles = useTiles(approved === undefined ? undefined : tilesOf(approved));
  const isVector = tiles.data?.layers !== undefined;

  const layers = useMemo(
    (): MapLayer[] =>
      tiles.data == null
        ? []
        : [{ kind: "tiles", id: "version", tilejson: tiles.data, style: look.vector }],
    [tiles.data, look.vector],
  );
  const oldLayers = useMemo(
    (): MapLayer[] =>
      oldTiles.data == null ? [] : [{ kind: "tiles", id: "approved", tilejson: oldTiles.data }],
    [oldTiles.data],
  );

  async function pick({ lng, lat, properties: [first] }: Picked): Promise<void> {
    const { stac_collection_id: collection, stac_item_id: item } = version;
    if (first !== undefined) setPicked(first);
    else if (!isVector && collection !== null && item !== null) {
      const address = `${itemAddress(collection, item)}/point/${lng.toFixed(6)},${lat.toFixed(6)}`;
      setPicked(await getJson(address).catch((error: unknown) => explain(error)));
    }
  }

  return (
    <div className="review">
      <div className="stack">
        {plain === undefined ? (
          <Notice icon="map" title="Nothing to show yet">
            <p>
              {version.processing_error ??
                "The version has no catalogue item: its processing is not finished, or its workflow registers none."}
            </p>
          </Notice>
        ) : approved === undefined ? (
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
        <Card title="What lies there">
          {picked === undefined ? (
            <p className="dim">Click on the layer to read its values or attributes.</p>
          ) : (
            <JsonView value={picked} label="values" />
          )}
        </Card>
      </div>
      <div className="stack">
        <StyleEditor assetId={asset.asset_id} isVector={isVector} look={look} onChange={setLook} />
        <Facts version={version} />
      </div>
    </div>
  );
}

import { useMemo, useState } from "react";
import { explain, getJson } from "../shared/api.ts";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import type { Picked } from "../map/map-view.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { setQuery, usePlace } from "../shared/navigation.tsx";
import { boundsOf } from "./boxes.ts";
import { ItemDetail } from "./item-detail.tsx";
import { text, useItems } from "./items.tsx";

/** The footprints of a collection; the chosen item with its pixels or features, and what it is. */
export function ItemsOnMap({ collectionId }: { collectionId: string }) {
  const loaded = useItems(collectionId);
  const itemId = usePlace().query.get("item") ?? undefined;
  const items = useMemo(() => loaded.data?.items ?? [], [loaded.data]);
  const item = items.find(({ id }) => id === itemId);
  const base =
    item === undefined
      ? undefined
      : `/stac/collections/${encodeURIComponent(collectionId)}/items/${encodeURIComponent(item.id)}`;
  const tiles = useTiles(base === undefined ? undefined : `${base}/WebMercatorQuad/tilejson.json`);
  const [picked, setPicked] = useState<{ readonly of: string; readonly value: unknown }>();

  const layers = useMemo((): MapLayer[] => {
    const outlines: MapLayer = {
      kind: "outlines",
      id: "items",
      chosen: itemId,
      data: {
        type: "FeatureCollection",
        features: items.flatMap(({ id, geometry }) =>
          geometry === null ? [] : [{ type: "Feature", properties: { key: id }, geometry }],
        ),
      },
    };
    return tiles.data == null || itemId === undefined
      ? [outlines]
      : [outlines, { kind: "tiles", id: `tiles ${itemId}`, tilejson: tiles.data }];
  }, [items, itemId, tiles.data]);

  async function pick({ lng, lat, properties }: Picked): Promise<void> {
    const own = properties.find((each) => !("key" in each));
    const outlined = properties.flatMap((each) => text(each["key"]) ?? []);
    // Items may lie on top of each other: inside of the chosen one a click asks for what it shows.
    if (item === undefined || (own === undefined && !outlined.includes(item.id))) {
      if (outlined[0] !== undefined) setQuery({ item: outlined[0] });
      return;
    }
    const of = item.id;
    if (own !== undefined) setPicked({ of, value: own });
    else {
      const point = `${base ?? ""}/point/${lng.toFixed(6)},${lat.toFixed(6)}`;
      setPicked({ of, value: await getJson(point).catch((error: unknown) => explain(error)) });
    }
  }

  return (
    <div className="stack">
      <div className="map-box">
        <LazyMap
          label="The items of the collection"
          layers={layers}
          bounds={boundsOf((item === undefined ? items : [item]).map(({ bbox }) => bbox))}
          onPick={(where) => void pick(where)}
        />
      </div>
      {tiles.error === undefined || item === undefined ? null : (
        <p className="error-text" role="alert">
          This item cannot be shown: {explain(tiles.error)}
        </p>
      )}
      {item === undefined || base === undefined ? (
        <p className="dim">
          Choose an item in the list or on the map to see its pixels or features.
        </p>
      ) : (
        <ItemDetail
          item={item}
          base={base}
          picked={picked?.of === item.id ? picked.value : undefined}
        />
      )}
    </div>
  );
}

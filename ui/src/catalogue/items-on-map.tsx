import { useMemo, useState } from "react";
import { itemTitle } from "../../../src/core/serving/item-title.ts";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import { PickedValues } from "../map/picked-values.tsx";
import { firstFeature } from "../map/first-feature.ts";
import type { Picked } from "../map/map-view.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { errorText, getJson } from "../shared/api.ts";
import { CopyId } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { JsonView } from "../shared/json-view.tsx";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Card } from "../shared/page.tsx";
import { boundsOf } from "./boxes.ts";
import type { Item } from "./items.tsx";
import { text, useItems } from "./items.tsx";

/** The footprints of a collection on the map, and the chosen item with its data and properties. */
export function ItemsOnMap({ collectionId }: { collectionId: string }) {
  const loaded = useItems(collectionId);
  const itemId = useSearchParams().get("item") ?? undefined;
  const { items } = loaded;
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

  async function pick(where: Picked): Promise<void> {
    const { lng, lat, properties } = where;
    const feature = properties.find((each) => !("key" in each));
    const outlined = properties.flatMap((each) => text(each["key"]) ?? []);
    // Items may overlap: a click inside of the chosen item reads its values.
    if (item === undefined || (feature === undefined && !outlined.includes(item.id))) {
      if (outlined[0] !== undefined) setSearchParams({ item: outlined[0] });
      return;
    }
    const of = item.id;
    if (feature !== undefined) setPicked({ of, value: feature });
    else if (tiles.data?.layers !== undefined) {
      setPicked({ of, value: await firstFeature(`${base ?? ""}/features/items`, where) });
    } else {
      const point = `${base ?? ""}/point/${lng.toFixed(6)},${lat.toFixed(6)}`;
      setPicked({ of, value: await getJson(point).catch((error: unknown) => errorText(error)) });
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
      {tiles.error === null || item === undefined ? null : (
        <p className="error-text" role="alert">
          This item cannot be shown: {errorText(tiles.error)}
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

function ItemDetail({ item, base, picked }: { item: Item; base: string; picked: unknown }) {
  return (
    <div className="grid-2">
      <Card title={itemTitle(item)} aside={<CopyId id={item.id} what="Item id" />}>
        <div className="stack">
          <div className="row">
            {Object.entries(item.assets).map(([name, asset]) => (
              <a key={name} className="button" href={asset.href}>
                <Icon name="save" /> {asset.title ?? name}
              </a>
            ))}
            <a className="button" href={base}>
              <Icon name="out" /> STAC
            </a>
            <a className="button" href={`${base}/map`}>
              <Icon name="map" /> Map
            </a>
          </div>
          <JsonView value={item.properties} label="properties" />
        </div>
      </Card>
      <PickedValues values={picked} />
    </div>
  );
}

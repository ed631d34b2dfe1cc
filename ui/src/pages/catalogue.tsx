import { useMemo, useState } from "react";
import { api, explain, getJson } from "../api.ts";
import { number, plural } from "../lib/format.ts";
import { useQuery } from "../live/use-query.ts";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import type { Picked } from "../map/map-view.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { CopyId } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Await, Notice } from "../parts/states.tsx";
import { setQuery, usePlace } from "../router.tsx";

interface Item {
  readonly id: string;
  readonly bbox: readonly number[];
  readonly geometry: GeoJSON.Geometry | null;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets: Readonly<Record<string, { readonly href?: string; readonly title?: string }>>;
}

const pageSize = 100;

/** Collections, then the items of one on the map, then one of them with its pixels or features. */
export default function Catalogue() {
  const { query } = usePlace();
  const collectionId = query.get("collection") ?? undefined;
  const collections = useQuery("collections", (signal) =>
    api.stacCollections({ query: { limit: 1000 }, signal }),
  );
  return (
    <Page title="Catalogue">
      <Await loaded={collections} what="the collections">
        {({ collections: found }) => {
          if (found.length === 0) {
            return (
              <Notice icon="map" title="The catalogue is empty">
                <p>
                  What a workflow registers appears here: run one that ends in a STAC item, such as{" "}
                  <code>raster_tiled_processing</code>.
                </p>
              </Notice>
            );
          }
          const chosen = found.find(({ id }) => id === collectionId);
          return (
            <div className="map-page">
              <Card
                title={
                  chosen === undefined
                    ? plural(found.length, "collection")
                    : (chosen.title ?? chosen.id)
                }
                flush
                aside={
                  chosen === undefined ? null : (
                    <button
                      className="link"
                      onClick={() => {
                        setQuery({ collection: undefined, item: undefined });
                      }}
                    >
                      All collections
                    </button>
                  )
                }
              >
                <div className="map-list">
                  {chosen === undefined ? (
                    found.map((collection) => (
                      <button
                        key={collection.id}
                        className="map-entry"
                        onClick={() => {
                          setQuery({ collection: collection.id });
                        }}
                      >
                        <strong>{collection.title ?? collection.id}</strong>
                        <span className="dim clamp">{collection.description}</span>
                      </button>
                    ))
                  ) : (
                    <Items collectionId={chosen.id} />
                  )}
                </div>
              </Card>
              {chosen === undefined ? (
                <Extents
                  collections={found.map(({ id, title, extent }) => ({
                    id,
                    title: title ?? id,
                    bbox: extent.spatial.bbox[0] ?? [],
                  }))}
                />
              ) : (
                <ItemsOnMap collectionId={chosen.id} />
              )}
            </div>
          );
        }}
      </Await>
    </Page>
  );
}

function useItems(collectionId: string) {
  return useQuery(`items ${collectionId}`, async (signal) => {
    const found = await api.stacItems({
      params: { collection_id: collectionId },
      query: { limit: pageSize },
      signal,
    });
    return { ...found, items: found.features as unknown as readonly Item[] };
  });
}

function Items({ collectionId }: { collectionId: string }) {
  const loaded = useItems(collectionId);
  const chosen = usePlace().query.get("item") ?? undefined;
  return (
    <Await loaded={loaded} what="the items">
      {({ items, numberMatched }) =>
        items.length === 0 ? (
          <p className="dim card-body">This collection has no items.</p>
        ) : (
          <>
            {items.map((item) => (
              <button
                key={item.id}
                className="map-entry"
                aria-current={item.id === chosen ? "true" : undefined}
                onClick={() => {
                  setQuery({ item: item.id });
                }}
              >
                <strong className="ellipsis">{text(item.properties["title"]) ?? item.id}</strong>
                <span className="dim">{text(item.properties["datetime"]) ?? ""}</span>
              </button>
            ))}
            {(numberMatched ?? 0) > items.length ? (
              <p className="dim card-body">
                The first {number(items.length)} of {number(numberMatched ?? 0)}.
              </p>
            ) : null}
          </>
        )
      }
    </Await>
  );
}

function Extents({
  collections,
}: {
  collections: readonly { id: string; title: string; bbox: readonly number[] }[];
}) {
  const layers = useMemo(
    (): MapLayer[] => [
      {
        kind: "outlines",
        id: "extents",
        data: {
          type: "FeatureCollection",
          features: collections.map(({ id, title, bbox }) => ({
            type: "Feature",
            properties: { key: id, title },
            geometry: boxOf(bbox),
          })),
        },
      },
    ],
    [collections],
  );
  return (
    <div className="map-box">
      <LazyMap
        label="Where the collections lie"
        layers={layers}
        onPick={({ properties: [first] }) => {
          const key = text(first?.["key"]);
          if (key !== undefined) setQuery({ collection: key });
        }}
      />
    </div>
  );
}

function ItemsOnMap({ collectionId }: { collectionId: string }) {
  const loaded = useItems(collectionId);
  const itemId = usePlace().query.get("item") ?? undefined;
  const items = useMemo(() => loaded.data?.items ?? [], [loaded.data]);
  const item = items.find(({ id }) => id === itemId);
  const base =
    item === undefined
      ? undefined
      : `/stac/collections/${encodeURIComponent(collectionId)}/items/${encodeURIComponent(item.id)}`;
  const tiles = useTiles(base === undefined ? undefined : `${base}/WebMercatorQuad/tilejson.json`);
  const [picked, setPicked] = useState<unknown>();

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
    const other = text(properties.find((each) => "key" in each)?.["key"]);
    if (base === undefined || (other !== undefined && other !== itemId)) {
      if (other !== undefined) setQuery({ item: other });
      return;
    }
    const own = properties.find((each) => !("key" in each));
    if (own !== undefined) setPicked(own);
    else {
      const point = `${base}/point/${lng.toFixed(6)},${lat.toFixed(6)}`;
      setPicked(await getJson(point).catch((error: unknown) => explain(error)));
    }
  }

  return (
    <div className="stack">
      <div className="map-box">
        <LazyMap
          label={item === undefined ? "Where the items lie" : `The item ${item.id}`}
          layers={layers}
          bounds={boundsOf(item === undefined ? items : [item])}
          onPick={(where) => void pick(where)}
        />
      </div>
      {tiles.error === undefined || item === undefined ? null : (
        <p className="error-text">This item cannot be shown: {explain(tiles.error)}</p>
      )}
      {item === undefined ? (
        <p className="dim">
          Choose an item in the list or on the map to see its pixels or features.
        </p>
      ) : (
        <div className="grid-2">
          <Card title={<CopyId id={item.id} what="Item id" />}>
            <div className="row">
              {Object.entries(item.assets).map(([name, asset]) => (
                <a key={name} className="button" href={asset.href}>
                  <Icon name="save" /> {asset.title ?? name}
                </a>
              ))}
              <a className="button" href={base}>
                <Icon name="out" /> STAC
              </a>
              <a className="button" href={`${base ?? ""}/map`}>
                <Icon name="map" /> Map
              </a>
            </div>
            <JsonView value={item.properties} label="properties" />
          </Card>
          <Card title="What lies there">
            {picked === undefined ? (
              <p className="dim">Click on the layer to read its values.</p>
            ) : (
              <JsonView value={picked} label="values" />
            )}
          </Card>
        </div>
      )}
    </div>
  );
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Across the antimeridian a box is two. */
function boxOf(bbox: readonly number[]): GeoJSON.Geometry {
  const [west = -180, south = -90, east = 180, north = 90] = bbox;
  const ring = (left: number, right: number) => [
    [
      [left, south],
      [right, south],
      [right, north],
      [left, north],
      [left, south],
    ],
  ];
  return west > east
    ? { type: "MultiPolygon", coordinates: [ring(west, 180), ring(-180, east)] }
    : { type: "Polygon", coordinates: ring(west, east) };
}

function boundsOf(items: readonly Item[]): [number, number, number, number] | undefined {
  if (items.length === 0) return undefined;
  const [only] = items;
  if (items.length === 1 && only !== undefined) {
    const [west = -180, south = -85, east = 180, north = 85] = only.bbox;
    return [west, south, east, north];
  }
  const side = (at: number) => items.map(({ bbox }) => bbox[at] ?? 0);
  if (items.some(({ bbox: [west = 0, , east = 0] }) => west > east)) return [-180, -80, 180, 80];
  return [Math.min(...side(0)), Math.min(...side(1)), Math.max(...side(2)), Math.max(...side(3))];
}

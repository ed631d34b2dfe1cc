import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import { api } from "../shared/api.ts";
import { plural } from "../shared/format.ts";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Card, Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { boxOf } from "./boxes.ts";
import { ItemsOnMap } from "./items-on-map.tsx";
import { Items, text } from "./items.tsx";
import { OtherServices } from "./other-services.tsx";

type Collection = Awaited<ReturnType<typeof api.stacCollections>>["collections"][number];

/** All collections, then the items of one collection on the map, then one item with its data. */
export default function CataloguePage() {
  const loaded = useQuery({
    queryKey: ["collections"],
    queryFn: ({ signal }) => api.stacCollections({ query: { limit: 1000 }, signal }),
  });
  return (
    <Page title="Catalogue">
      <OtherServices />
      <Await query={loaded} what="the collections">
        {({ collections }) =>
          collections.length === 0 ? (
            <Notice icon="map" title="The catalogue is empty">
              <p>
                Items that workflows register appear here: run one that ends in a STAC item, such as{" "}
                <code>raster_ingest</code>.
              </p>
            </Notice>
          ) : (
            <Browse collections={collections} />
          )
        }
      </Await>
    </Page>
  );
}

function Browse({ collections }: { collections: readonly Collection[] }) {
  const collectionId = useSearchParams().get("collection");
  const chosen = collections.find(({ id }) => id === collectionId);
  if (chosen === undefined) {
    return (
      <div className="map-page">
        <Card title={plural(collections.length, "collection")} flush>
          <div className="map-list">
            {collections.map((collection) => (
              <button
                key={collection.id}
                className="map-entry"
                onClick={() => {
                  setSearchParams({ collection: collection.id });
                }}
              >
                <strong>{collection.title ?? collection.id}</strong>
                <span className="dim clamp">{collection.description}</span>
              </button>
            ))}
          </div>
        </Card>
        <Extents collections={collections} />
      </div>
    );
  }
  return (
    <div className="map-page">
      <Card
        title={chosen.title ?? chosen.id}
        flush
        aside={
          <button
            className="link"
            onClick={() => {
              setSearchParams({ collection: undefined, item: undefined });
            }}
          >
            All collections
          </button>
        }
      >
        <div className="map-list">
          <Items collectionId={chosen.id} />
        </div>
      </Card>
      <ItemsOnMap collectionId={chosen.id} />
    </div>
  );
}

/** The extents of the collections on a map; a click opens a collection. */
function Extents({ collections }: { collections: readonly Collection[] }) {
  const layers = useMemo(
    (): MapLayer[] => [
      {
        kind: "outlines",
        id: "extents",
        data: {
          type: "FeatureCollection",
          features: collections.map(({ id, title, extent }) => ({
            type: "Feature",
            properties: { key: id, title: title ?? id },
            geometry: boxOf(extent.spatial.bbox[0] ?? []),
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
          if (key !== undefined) setSearchParams({ collection: key });
        }}
      />
    </div>
  );
}

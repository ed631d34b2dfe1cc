import { useMemo } from "react";
import { api } from "../shared/api.ts";
import { Extents } from "./extents.tsx";
import { ItemsOnMap } from "./items-on-map.tsx";
import { Items } from "./items.tsx";
import { plural } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Card, Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { setQuery, usePlace } from "../shared/navigation.tsx";

type Collection = Awaited<ReturnType<typeof api.stacCollections>>["collections"][number];

/** Collections, then the items of one on the map, then one of them with its pixels or features. */
export default function Catalogue() {
  const loaded = useQuery("collections", (signal) =>
    api.stacCollections({ query: { limit: 1000 }, signal }),
  );
  return (
    <Page title="Catalogue">
      <Await loaded={loaded} what="the collections">
        {({ collections }) =>
          collections.length === 0 ? (
            <Notice icon="map" title="The catalogue is empty">
              <p>
                What a workflow registers appears here: run one that ends in a STAC item, such as{" "}
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
  const wanted = usePlace().query.get("collection");
  const chosen = collections.find(({ id }) => id === wanted);
  const extents = useMemo(
    () =>
      collections.map(({ id, title, extent }) => ({
        id,
        title: title ?? id,
        bbox: extent.spatial.bbox[0] ?? [],
      })),
    [collections],
  );
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
                  setQuery({ collection: collection.id });
                }}
              >
                <strong>{collection.title ?? collection.id}</strong>
                <span className="dim clamp">{collection.description}</span>
              </button>
            ))}
          </div>
        </Card>
        <Extents collections={extents} />
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
              setQuery({ collection: undefined, item: undefined });
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

import { api } from "../shared/api.ts";
import { number } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { setQuery, usePlace } from "../shared/navigation.tsx";

/** A STAC item, as far as the pages show it. */
export interface Item {
  readonly id: string;
  readonly bbox: readonly number[];
  readonly geometry: GeoJSON.Geometry | null;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets: Readonly<Record<string, { readonly href?: string; readonly title?: string }>>;
}

const pageSize = 100;

export function useItems(collectionId: string) {
  return useQuery(`items ${collectionId}`, async (signal) => {
    const found = await api.stacItems({
      params: { collection_id: collectionId },
      query: { limit: pageSize },
      signal,
    });
    return { ...found, items: found.features as unknown as readonly Item[] };
  });
}

/** The items of a collection as a list: the same that lie on the map beside it. */
export function Items({ collectionId }: { collectionId: string }) {
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

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

import { useQuery } from "@tanstack/react-query";
import { api } from "../shared/api.ts";
import { number } from "../shared/format.ts";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Await } from "../shared/states.tsx";

/** The members of a STAC item that the pages show. */
export interface Item {
  readonly id: string;
  readonly bbox: readonly number[];
  readonly geometry: GeoJSON.Geometry | null;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets: Readonly<Record<string, { readonly href?: string; readonly title?: string }>>;
}

const pageSize = 100;

export function useItems(collectionId: string) {
  return useQuery({
    queryKey: ["items", collectionId],
    queryFn: async ({ signal }) => {
      const found = await api.stacItems({
        params: { collection_id: collectionId },
        query: { limit: pageSize },
        signal,
      });
      return { ...found, items: found.features as unknown as readonly Item[] };
    },
  });
}

/** The items of a collection as a list beside the map. */
export function Items({ collectionId }: { collectionId: string }) {
  const loaded = useItems(collectionId);
  const chosen = useSearchParams().get("item") ?? undefined;
  return (
    <Await query={loaded} what="the items">
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
                  setSearchParams({ item: item.id });
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

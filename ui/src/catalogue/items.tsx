import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { itemTitle } from "../../../src/core/serving/item-title.ts";
import { api } from "../shared/api.ts";
import { MoreRows } from "../shared/more-rows.tsx";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Await } from "../shared/states.tsx";
import { local } from "../shared/time.tsx";

/** The members of a STAC item that the pages show. */
export interface Item {
  readonly id: string;
  readonly bbox: readonly number[];
  readonly geometry: GeoJSON.Geometry | null;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets: Readonly<Record<string, { readonly href?: string; readonly title?: string }>>;
}

const pageSize = 100;

/** The items of a collection, in pages; the list and the map read the same. */
export function useItems(collectionId: string) {
  const query = useInfiniteQuery({
    queryKey: ["items", collectionId],
    queryFn: ({ pageParam: token, signal }) =>
      api.stacItems({
        params: { collection_id: collectionId },
        query: { limit: pageSize, ...(token === undefined ? {} : { token }) },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ links }) => tokenOf(links),
  });
  const items = useMemo(
    () => query.data?.pages.flatMap((page) => page.features as unknown as readonly Item[]) ?? [],
    [query.data],
  );
  return { query, items };
}

/** The token in the address of the next page. */
function tokenOf(links: readonly { readonly rel: string; readonly href: string }[] | undefined) {
  const next = links?.find(({ rel }) => rel === "next");
  if (next === undefined) return undefined;
  return new URL(next.href, window.location.origin).searchParams.get("token") ?? undefined;
}

/** The items of a collection as a list beside the map. */
export function Items({ collectionId }: { collectionId: string }) {
  const { query, items } = useItems(collectionId);
  const chosen = useSearchParams().get("item") ?? undefined;
  return (
    <Await query={query} what="the items">
      {({ pages }) =>
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
                <strong className="ellipsis">{itemTitle(item)}</strong>
                <span className="dim ellipsis">{dateOf(item)}</span>
              </button>
            ))}
            <MoreRows
              query={query}
              shown={items.length}
              total={pages[0]?.numberMatched}
              what="items"
            />
          </>
        )
      }
    </Await>
  );
}

function dateOf({ properties }: Item): string {
  const at = text(properties["datetime"]);
  return at === undefined ? "" : local(at);
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { ItemPlace } from "../../adapters/postgres/queries/catalogue-items.ts";
import { countItems, searchItems } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { Fields } from "../../core/catalogue/fields.ts";
import { readFields, selectFields } from "../../core/catalogue/fields.ts";
import { makeIntersects } from "../../core/catalogue/intersects.ts";
import { linkItem, nextLink } from "../../core/catalogue/links.ts";
import type { SearchRequest } from "../../core/catalogue/search.ts";
import { readSearch } from "../../core/catalogue/search.ts";
import type { SortField } from "../../core/catalogue/sort.ts";
import { readSort, sortPath } from "../../core/catalogue/sort.ts";
import type { StacItem } from "../../core/catalogue/stac.ts";
import type { JsonObject } from "../../core/model/json.ts";

export interface SearchOptions {
  readonly request: SearchRequest & {
    readonly limit: number;
    readonly sortby?: string | readonly SortField[] | undefined;
    readonly fields?: string | Fields | undefined;
    readonly token?: string | undefined;
  };
  readonly base: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  /** What the caller sent, to be repeated in the link to the next page. */
  readonly given: object;
}

/** Candidates that are read at once where the real geometries decide. */
const batch = 500;

export async function runSearch(db: Database, options: SearchOptions): Promise<JsonObject> {
  const { request, base, path, method } = options;
  const search = readSearch(request);
  const sort = (
    typeof request.sortby === "string" ? readSort(request.sortby) : (request.sortby ?? [])
  ).map(({ field, direction }) => ({ path: sortPath(field), descending: direction === "desc" }));
  const keys = sort.length === 0 ? 3 : sort.length + 2;
  const after = decodeCursor(request.token, z.array(z.string().max(4096)).length(keys));
  const fields = typeof request.fields === "string" ? readFields(request.fields) : request.fields;

  const tests = search.geometries.map(makeIntersects);
  const found: StacItem[] = [];
  let place: ItemPlace | undefined = after;
  let more = true;
  while (more && found.length < request.limit) {
    const wanted = tests.length === 0 ? request.limit : Math.max(batch, request.limit);
    const page = await searchItems(db, search, sort, wanted, place);
    more = page.more;
    for (const [index, each] of page.items.entries()) {
      place = each.place;
      if (!tests.every((test) => test(each.item.geometry))) continue;
      found.push(each.item);
      if (found.length < request.limit) continue;
      more ||= index < page.items.length - 1;
      break;
    }
  }
  const matched = tests.length === 0 ? await countItems(db, search) : undefined;
  const address = `${base}${path}`;
  const next =
    more && place !== undefined
      ? [nextLink(address, { method, given: options.given as JsonObject }, encodeCursor(place))]
      : [];
  return {
    type: "FeatureCollection",
    features: found.map((item) => {
      const linked = linkItem(item, base) as unknown as JsonObject;
      return fields === undefined ? linked : selectFields(linked, fields);
    }),
    links: [
      { rel: "root", href: `${base}/stac`, type: "application/json" },
      { rel: "self", href: address, type: "application/geo+json" },
      ...(next as unknown as JsonObject[]),
    ],
    numberReturned: found.length,
    ...(matched === undefined ? {} : { numberMatched: matched }),
  };
}

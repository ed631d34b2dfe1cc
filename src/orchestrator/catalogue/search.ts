import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { ItemPlace } from "../../adapters/postgres/queries/catalogue-items.ts";
import { countItems, searchItems } from "../../adapters/postgres/queries/catalogue-items.ts";
import { badToken } from "./bad-token.ts";
import type { Fields } from "../../core/catalogue/fields.ts";
import { readFields, selectFields } from "../../core/catalogue/fields.ts";
import { linkItem, nextLink } from "../../core/catalogue/links.ts";
import type { SearchRequest } from "../../core/catalogue/search.ts";
import { readSearch } from "../../core/catalogue/search.ts";
import type { SortField } from "../../core/catalogue/query-parameters.ts";
import { readSort, sortPath } from "../../core/catalogue/query-parameters.ts";
import type { Viewer } from "../../core/domain/served-version.ts";
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

/**
 * Candidates that are read at once where the real geometries decide, and how often for one page: a
 * page may be short, or empty, and its link leads on.
 */
const batch = 500;
const mostBatches = 20;
/** Among 100,000 items 60 in a box took 5 ms to sort, and 30 ms to meet on the way. */
const mostSorted = 5000;

export async function runSearch(
  db: Database,
  viewer: Viewer,
  options: SearchOptions,
): Promise<JsonObject> {
  const { request, base, path, method } = options;
  const search = readSearch(request);
  const sort = (
    typeof request.sortby === "string" ? readSort(request.sortby) : (request.sortby ?? [])
  ).map(({ field, direction }) => ({ path: sortPath(field), descending: direction === "desc" }));
  const keys = sort.length === 0 ? 3 : sort.length + 2;
  const after = decodeCursor(request.token, z.array(z.string().max(4096)).length(keys));
  const fields = typeof request.fields === "string" ? readFields(request.fields) : request.fields;

  const { spatial } = search;
  const counting =
    spatial === undefined ? countItems(db, viewer, search) : Promise.resolve(undefined);
  // It is awaited below; until then the search may fail first.
  counting.catch(() => undefined);
  const few = search.boxes !== undefined && ((await counting) ?? Infinity) <= mostSorted;
  const found: StacItem[] = [];
  let place: ItemPlace | undefined = after;
  let more = true;
  for (let read = 0; more && found.length < request.limit && read < mostBatches; read++) {
    const limit = spatial === undefined ? request.limit : Math.max(batch, request.limit);
    const asked = { filter: search, sort, limit, after: place, few, asked: spatial?.asked };
    const page = await searchItems(db, viewer, asked).catch(badToken(request.token));
    more = page.more;
    for (const [index, each] of page.items.entries()) {
      place = each.place;
      if (spatial !== undefined && !spatial.decide(each.answers, each.item.geometry)) continue;
      found.push(each.item);
      if (found.length < request.limit) continue;
      more ||= index < page.items.length - 1;
      break;
    }
  }
  const matched = await counting;
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

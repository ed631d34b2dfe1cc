/** A page of features: as many as asked for, unless they weigh too much. */
import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type {
  FeaturePlace,
  FeatureRow,
  FoundFeature,
} from "../../adapters/postgres/queries/features.ts";
import {
  countFeatures,
  listFeatures,
  placeSize,
} from "../../adapters/postgres/queries/features.ts";
import type { GeoTable } from "../../adapters/postgres/queries/geo-tables.ts";
import type { SearchGeometry } from "../../core/geometry/geometry.ts";
import { separateSpatial } from "../../core/cql2/spatial.ts";
import type { AskedItems } from "../../core/serving/vector-items.ts";
import { toGeoJson } from "../../core/vector/geojson.ts";
import { readWkb } from "../../core/vector/read-wkb.ts";
import { badToken } from "../catalogue/bad-token.ts";

export interface FeaturePage {
  readonly features: readonly FeatureRow[];
  /** Where the next page begins. */
  readonly next: string | undefined;
  /** Of all pages; undefined where counting takes too long, or where geometries decide. */
  readonly matched: number | undefined;
}

/** Read at once. Large layers have features of a megabyte, so a page ends when it is heavy. */
const batch = 1000;
const mostBytes = 32 * 1024 * 1024;
/** Batches in which geometries may decide against everything; then the page's link leads on. */
const mostBatches = 20;

export async function readFeatures(
  db: Database,
  table: GeoTable,
  asked: AskedItems,
  token: string | undefined,
): Promise<FeaturePage> {
  // PostGIS compares the geometries themselves; without it boxes are compared, and then we do.
  const spatial =
    asked.filter === undefined || table.form === "postgis"
      ? undefined
      : separateSpatial(asked.filter);
  const query = { ...asked, filter: spatial?.wide ?? asked.filter, asked: spatial?.asked };
  const size = placeSize(asked.sort);
  const cursor = z.array(z.string().max(4096).nullable()).length(size);
  const features: FoundFeature[] = [];
  let after: FeaturePlace | undefined = decodeCursor(token, cursor);
  let more = true;
  let bytes = 0;
  for (let read = 0; more && read < mostBatches; read++) {
    const limit = spatial === undefined ? Math.min(batch, asked.limit - features.length) : batch;
    const page = await listFeatures(db, table, { ...query, limit, after }).catch(badToken(token));
    more = page.more;
    for (const [index, each] of page.features.entries()) {
      after = each.place;
      if (spatial !== undefined && !spatial.decide(each.answers, geometryOf(each))) continue;
      features.push(each);
      bytes += each.wkb.byteLength;
      if (features.length < asked.limit && bytes < mostBytes) continue;
      more ||= index < page.features.length - 1;
      return finish();
    }
  }
  return finish();

  async function finish(): Promise<FeaturePage> {
    const matched = spatial === undefined ? await countFeatures(db, table, asked) : undefined;
    const next = more && after !== undefined ? encodeCursor(after) : undefined;
    return { features, next, matched };
  }
}

function geometryOf({ wkb }: FeatureRow): SearchGeometry {
  return toGeoJson(readWkb(wkb)) as unknown as SearchGeometry;
}

import { z } from "zod";
import { decodeCursor, encodeCursor, refuseBadValues } from "../../adapters/http/cursor.ts";
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

export interface FeaturePage {
  readonly features: readonly FeatureRow[];
  /** The token of the next page. */
  readonly next: string | undefined;
  /** Features on all pages; undefined if counting takes too long, or if geometries decide. */
  readonly matched: number | undefined;
}

/** Features that are read at once. Some weigh a megabyte, so a page also ends at `mostBytes`. */
const batch = 1000;
const mostBytes = 32 * 1024 * 1024;
/** Batches for one page: if the geometries refuse all features of them, the `next` link continues. */
const mostBatches = 20;

/** Reads a page: as many features as asked for, or fewer if they are large. */
export async function readFeatures(
  db: Database,
  table: GeoTable,
  asked: AskedItems,
  token: string | undefined,
): Promise<FeaturePage> {
  // PostGIS compares geometries. Without it the query compares boxes, and `decide` the geometries.
  const spatial =
    asked.filter === undefined || table.form === "postgis"
      ? undefined
      : separateSpatial(asked.filter);
  const query = { ...asked, filter: spatial?.wide ?? asked.filter, asked: spatial?.asked };
  const size = placeSize(asked.sort);
  const cursor = z.array(z.string().max(4096).nullable()).length(size);
  const refuse = refuseBadValues(token, asked.filter !== undefined);
  const features: FoundFeature[] = [];
  let after: FeaturePlace | undefined = decodeCursor(token, cursor);
  let more = true;
  let bytes = 0;
  for (let read = 0; more && read < mostBatches; read++) {
    const limit = spatial === undefined ? Math.min(batch, asked.limit - features.length) : batch;
    const page = await listFeatures(db, table, { ...query, limit, after }).catch(refuse);
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
    const matched =
      spatial === undefined ? await countFeatures(db, table, asked).catch(refuse) : undefined;
    const next = more && after !== undefined ? encodeCursor(after) : undefined;
    return { features, next, matched };
  }
}

function geometryOf({ wkb }: FeatureRow): SearchGeometry {
  return toGeoJson(readWkb(wkb)) as unknown as SearchGeometry;
}

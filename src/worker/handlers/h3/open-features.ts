/** The features of a layer or of a GeoParquet file, and those of them that meet a box. */
import { describeFeatures, readFeatures } from "../../../adapters/parquet/confined-features.ts";
import type { FeatureFile } from "../../../adapters/parquet/read-features.ts";
import { listFeatures } from "../../../adapters/postgres/queries/features.ts";
import { findGeoTable } from "../../../adapters/postgres/queries/geo-tables.ts";
import type { GeoTable } from "../../../adapters/postgres/queries/geo-tables.ts";
import type { Bounds, Kind } from "../../../core/vector/parts.ts";
import { kinds, multiType } from "../../../core/vector/parts.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";

export interface FoundFeature {
  readonly wkb: Uint8Array;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface AboutFeatures {
  /** The kinds of geometry, as far as the source says. */
  readonly kinds: readonly Kind[];
  readonly columns: readonly string[];
  readonly bounds: Bounds;
}

export interface OpenFeatures {
  /** Changes with the content. */
  readonly tag: string;
  describe(): Promise<AboutFeatures>;
  meeting(boxes: readonly Bounds[], columns: readonly string[]): AsyncIterable<FoundFeature>;
}

const world: Bounds = [-180, -90, 180, 90];
const tablePrefix = "table:";
const pageSize = 2000;

/** `place` is `table:districts`, or a path in storage. */
export async function openFeatures(context: HandlerContext, place: string): Promise<OpenFeatures> {
  return place.startsWith(tablePrefix)
    ? openTable(context, place.slice(tablePrefix.length))
    : openFile(context, place);
}

export const tablePlace = (name: string): string => `${tablePrefix}${name}`;

async function openTable(context: HandlerContext, name: string): Promise<OpenFeatures> {
  const database = requireDatabase(context);
  const table = await findGeoTable(database, name);
  if (table === undefined) {
    throw new PermanentError(`There is no layer "${name}".`, { code: "LAYER_NOT_FOUND" });
  }
  return {
    tag: `${tablePlace(name)} ${table.load_id}`,
    describe: () =>
      Promise.resolve({
        kinds: kinds.filter((kind) => multiType[kind] === table.geometry_type),
        columns: table.columns.map((column) => column.name),
        bounds: table.bounds ?? world,
      }),
    meeting: (boxes, wanted) => pagesOf(context, table, boxes, wanted),
  };
}

async function* pagesOf(
  context: HandlerContext,
  table: GeoTable,
  boxes: readonly Bounds[],
  wanted: readonly string[],
): AsyncGenerator<FoundFeature> {
  const columns = table.columns.filter(({ name }) => wanted.includes(name));
  const seen = new Set<number>();
  for (const box of boxes) {
    let after: readonly (string | null)[] | undefined;
    for (;;) {
      context.signal.throwIfAborted();
      const query = { sort: [], columns, limit: pageSize, after, bbox: box };
      const page = await listFeatures(requireDatabase(context), table, query);
      for (const feature of page.features) {
        // A feature may meet the boxes at both sides of the antimeridian.
        if (boxes.length > 1 && seen.has(feature.fid)) continue;
        if (boxes.length > 1) seen.add(feature.fid);
        yield feature;
      }
      if (!page.more) break;
      after = page.features.at(-1)?.place;
    }
  }
}

async function openFile(context: HandlerContext, path: string): Promise<OpenFeatures> {
  const stored = await context.storage.head(path);
  if (stored === undefined) {
    throw new PermanentError(`There is no file at "${path}".`, { code: "SOURCE_NOT_FOUND" });
  }
  const file = { storage: context.storage, path, bytes: stored.bytes };
  return {
    tag: `${path} ${stored.bytes} ${stored.etag}`,
    describe: async () => {
      const { geometry, columns } = await describeFeatures(file, context);
      refuseOtherCrs(geometry, path);
      return {
        kinds: kinds.filter((kind) =>
          geometry.types.some((type) =>
            multiType[kind].endsWith(type.replace(/^Multi| Z.*$/g, "")),
          ),
        ),
        columns,
        bounds: geometry.bounds ?? world,
      };
    },
    meeting: (boxes, columns) => readFeatures(file, { boxes, columns }, context),
  };
}

function refuseOtherCrs({ crs }: FeatureFile["geometry"], path: string): void {
  if (crs !== undefined && /CRS84|"code":\s*4326\b|EPSG:4326/.test(crs)) return;
  throw new PermanentError(
    `"${path}" is not in longitude and latitude on WGS 84: load it as a layer with vector_etl first.`,
    { code: "CRS_NOT_SUPPORTED" },
  );
}

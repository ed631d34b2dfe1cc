/**
 * Answers requests for a layer of values by H3 cell, after its item was found and it was checked who may see
 * it: vector tiles of hexagons from the Parquet files, the resolution by the zoom.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { cellPolygon } from "../../adapters/h3/cell-polygon.ts";
import { baseOf } from "../../adapters/http/base-url.ts";
import { compress } from "../../adapters/http/compress.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { readTable } from "../../adapters/parquet/read-table.ts";
import type { H3RunRow } from "../../adapters/postgres/queries/h3.ts";
import { findServedH3Run, listH3Files } from "../../adapters/postgres/queries/h3.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { conventions, encodeFeatures } from "../../adapters/tiles/vector-tiles.ts";
import { Problem } from "../../core/errors.ts";
import type { Bbox } from "../../core/geometry/geometry.ts";
import type { H3Computation } from "../../core/h3/columns.ts";
import { columnsOf } from "../../core/h3/columns.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { HexagonLegend } from "../../core/serving/hexagons.ts";
import {
  chooseStat,
  colourExpression,
  mostHexagonZoom,
  rangeOf,
  resolutionAt,
  shortenHistogram,
  statsOf,
} from "../../core/serving/hexagons.ts";
import type { HexagonLayer } from "../../core/serving/layer.ts";
import type { RenderQuery } from "../../core/serving/render-options.ts";
import { toQueryText } from "../../core/serving/render-options.ts";
import { makeTileJson } from "../../core/serving/tilejson.ts";
import { isTile, tileBounds } from "../../core/serving/web-mercator.ts";
import type { HexagonAnswers } from "../layers/layer-answers.ts";
import { readCells } from "./answer-dataset.ts";

/** Cells of one tile; it has a few hundred where the resolution follows the zoom. */
const mostCells = 50_000;
const tileMedia = "application/vnd.mapbox-vector-tile";

export function createHexagonAnswers(db: Queryable, storage: Storage): HexagonAnswers {
  const ranges = new LRUCache<string, readonly [number, number]>({ max: 500 });

  async function requireRun({ dataset, period }: HexagonLayer): Promise<H3RunRow> {
    const run = await findServedH3Run(db, dataset, period);
    if (run !== undefined) return run;
    throw new Problem("NOT_FOUND", `The values of "${dataset}" are gone.`);
  }

  /** From the finest file that has no more cells than a tile may have. */
  async function findRange(run: H3RunRow, stat: string): Promise<readonly [number, number]> {
    const key = `${run.run_id} ${stat}`;
    const known = ranges.get(key);
    if (known !== undefined) return known;
    const files = (await listH3Files(db, run.run_id, { compacted: true })).filter(
      ({ row_count }) => row_count > 0,
    );
    const file = files.findLast(({ row_count }) => row_count <= mostCells) ?? files[0];
    const rows = file === undefined ? [] : await readTable(storage, file.path, file.bytes, [stat]);
    const range = rangeOf(rows.map((row) => Number(row[stat] ?? Number.NaN)));
    ranges.set(key, range);
    return range;
  }

  return {
    async tile(layer, { z, x, y: { y, extension } }, { header }) {
      if (!isTile({ z, x, y }) || !["mvt", "pbf", undefined].includes(extension)) {
        throw new Problem("NOT_FOUND", "There is no such tile.");
      }
      const run = await requireRun(layer);
      const text = JSON.stringify([layer.version_tag, run.run_id, run.finished_at, z, x, y]);
      const etag = `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
      const headers = { etag, "cache-control": "private, no-cache" };
      if (header("if-none-match") === etag) return new Answer(undefined, { status: 304, headers });
      const margin = conventions.buffer / conventions.extent;
      const reach = tileBounds(z, x, y, margin);
      const resolution = resolutionAt(z, run.configuration);
      const columns = columnsOf(run as H3Computation);
      const rows = await readCells(db, storage, run, {
        bbox: withinWorld(reach),
        resolution,
        columns,
        limit: mostCells,
      });
      const features = rows.flatMap((row, index) => hexagons(row, index, reach));
      const body = encodeFeatures(features, { z, x, y, ...conventions });
      if (body.length === 0) return new Answer(undefined, { status: 204, headers });
      const sent = await compress(body, header);
      return new Answer(sent.body, {
        headers: { ...headers, ...sent.headers, "content-type": tileMedia },
      });
    },

    async tileJson(layer, base, request) {
      const run = await requireRun(layer);
      const query = request.query as RenderQuery;
      const columns = columnsOf(run as H3Computation);
      const stat = chooseStat(columns, query.stat);
      if (stat === undefined) {
        const known = columns.slice(2).map(({ name }) => name);
        throw new Problem(
          "BAD_REQUEST",
          `The data set has ${known.join(", ")}, and no such column.`,
        );
      }
      const range = query.rescale?.[0] ?? (await findRange(run, stat));
      const name = query.colormap_name ?? layer.style?.colormap_name ?? "viridis";
      const legend: HexagonLegend = {
        stat,
        stats: statsOf(columns),
        range,
        fill: colourExpression(stat, range, name),
      };
      const { version, preview } = request.query as { version?: unknown; preview?: unknown };
      const address = `${baseOf(request)}${base}/tiles/WebMercatorQuad/{z}/{x}/{y}${toQueryText({ version, preview })}`;
      const { title, bounds } = layer;
      return {
        ...makeTileJson({ title, address, bounds, minZoom: 0, maxZoom: mostHexagonZoom }),
        vector_layers: [
          {
            id: conventions.layer,
            minzoom: 0,
            maxzoom: mostHexagonZoom,
            fields: Object.fromEntries(columns.map((column) => [column.name, column.type])),
          },
        ],
        "rmhdag:hexagons": legend,
      };
    },
  };
}

/** A tile at the edge of the map reaches beyond it; its box then goes on at the other side. */
function withinWorld([west, south, east, north]: readonly number[] & Bbox): Bbox {
  if (east - west >= 360) return [-180, south, 180, north];
  const wrap = (lon: number) => ((((lon + 180) % 360) + 360) % 360) - 180;
  return [west < -180 ? wrap(west) : west, south, east > 180 ? wrap(east) : east, north];
}

/** Without the single values of a histogram of many, which would be most of the tile. */
function shorten(row: Record<string, unknown>): Record<string, unknown> {
  const { histogram } = row;
  if (!isJsonObject(histogram)) return row;
  return { ...row, histogram: shortenHistogram(histogram as Record<string, number>) };
}

/** The cell at the side of the antimeridian, or at both, where the tile is. */
function hexagons(row: Record<string, unknown>, index: number, [west, , east]: Bbox) {
  const coordinates = cellPolygon(String(row["h3_index"]));
  const lons = coordinates.flatMap((ring) => ring.map(([lon = 0]) => lon));
  const [left, right] = [Math.min(...lons), Math.max(...lons)];
  return [-360, 0, 360].flatMap((turn) => {
    if (right + turn < west || left + turn > east) return [];
    const moved = coordinates.map((ring) => ring.map(([lon = 0, lat = 0]) => [lon + turn, lat]));
    return [
      {
        type: "Feature" as const,
        id: index,
        properties: shorten(row),
        geometry: { type: "Polygon" as const, coordinates: moved },
      },
    ];
  });
}

import { stat } from "node:fs/promises";
import {
  cellToLatLng,
  cellToParent,
  cellsToDirectedEdge,
  directedEdgeToBoundary,
  gridDiskDistances,
} from "h3-js";
import { cellsBelow, chunksIn } from "../../../adapters/h3/chunks.ts";
import { geodesicLength } from "../../../adapters/h3/geodesic.ts";
import { openTable } from "../../../adapters/parquet/write-table.ts";
import type { TableColumn } from "../../../adapters/parquet/write-table.ts";
import type { Bbox } from "../../../core/geometry/geometry.ts";
import { chunkResolution } from "../../../core/h3/configuration.ts";
import { defineHandler } from "../../define-handler.ts";
import { hashFile } from "../hash-content.ts";
import { temporaryFile } from "../raster/run-gdal.ts";

const columns: readonly TableColumn[] = [
  { name: "h3_from", type: "text" },
  { name: "h3_to", type: "text" },
  { name: "ring", type: "integer" },
  { name: "distance", type: "number" },
  { name: "border", type: "number" },
];

const world: Bbox = [-180, -90, 180, 90];

/**
 * Handler h3_connectivity: each cell with its neighbours up to `k` steps away, as a list of edges. An edge
 * stands once, with the smaller index first. Chunk by chunk, so memory does not grow with the area.
 */
export const connectivity = defineHandler("h3_connectivity", async (params, context) => {
  const { name, resolution, k, land_only, bbox } = params;
  const chunks = chunksIn([bbox ?? world], land_only).toSorted();
  const inside = new Set(chunks);
  const coarse = resolution < chunkResolution;
  const parents = new Set(coarse ? chunks.map((cell) => cellToParent(cell, resolution)) : []);
  const isInside = (cell: string) =>
    coarse ? parents.has(cell) : inside.has(cellToParent(cell, chunkResolution));
  const file = temporaryFile(context, "edges.parquet");
  const table = openTable(file, columns);
  let [edge_count, cell_count] = [0, 0];
  const groups = coarse ? [[...parents].toSorted()] : chunks;
  for (const [index, group] of groups.entries()) {
    context.signal.throwIfAborted();
    const cells = typeof group === "string" ? cellsBelow(group, resolution) : group;
    const edges = cells.flatMap((cell) => edgesOf(cell, k, isInside));
    cell_count += cells.length;
    edge_count += edges.length;
    if (edges.length > 0) {
      await table.write(columns.map((_, at) => edges.map((edge) => edge[at])));
    }
    context.progress((95 * (index + 1)) / groups.length);
  }
  await table.close();
  const blob_path = `silver/h3_edges/name=${name}/k=${k}/resolution=${resolution}.parquet`;
  const checksum = await hashFile(file, context.signal);
  const { size: bytes } = await stat(file);
  await context.storage.putFile(blob_path, file, { signal: context.signal });
  return { blob_path, resolution, k, cell_count, edge_count, bytes, checksum };
});

type Edge = readonly [string, string, number, number, number | undefined];

function edgesOf(cell: string, k: number, isInside: (cell: string) => boolean): Edge[] {
  const [lat, lon] = cellToLatLng(cell);
  return gridDiskDistances(cell, k).flatMap((ring, distance) =>
    (distance === 0 ? [] : ring).toSorted().flatMap((other): Edge[] => {
      // The other cell writes the edge, unless it is not asked for.
      if (other < cell && isInside(other)) return [];
      const [otherLat, otherLon] = cellToLatLng(other);
      const metres = geodesicLength(lon, lat, otherLon, otherLat);
      const border = distance === 1 ? borderOf(cell, other) : undefined;
      return [
        cell < other
          ? [cell, other, distance, metres, border]
          : [other, cell, distance, metres, border],
      ];
    }),
  );
}

/** The length of the edge that two neighbours share. */
function borderOf(cell: string, other: string): number {
  const boundary = directedEdgeToBoundary(cellsToDirectedEdge(cell, other));
  return boundary.slice(1).reduce((sum, [lat, lon], index) => {
    const [lastLat = 0, lastLon = 0] = boundary[index] ?? [];
    return sum + geodesicLength(lastLon, lastLat, lon, lat);
  }, 0);
}

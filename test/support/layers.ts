/** Small data sets, and how they are put into storage, submitted and processed. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeTerrain } from "../../src/cli/demo/make-samples.ts";
import { writeGeoTiff } from "../../src/cli/demo/write-geotiff.ts";
import type { Client } from "../../src/core/api/client.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { Site } from "./processes.ts";
import { waitFor } from "./wait.ts";

/** Heights of 420 to about 3,000 metres, in the Alps. */
export function terrainFile(size = 200): Uint8Array {
  const place = { epsg: 32632, west: 350_000, north: 5_210_000, pixel: 100 };
  return writeGeoTiff(makeTerrain(size, size), place);
}

/** Squares of a degree in a row, the first at 0° east, with a name and a number. */
export function squaresFile(count = 3): Uint8Array {
  const features = Array.from({ length: count }, (_, at) => ({
    type: "Feature",
    properties: { name: `square ${at}`, population: 100 * (at + 1) },
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [at * 2, 0],
          [at * 2 + 1, 0],
          [at * 2 + 1, 1],
          [at * 2, 1],
          [at * 2, 0],
        ],
      ],
    },
  }));
  return Buffer.from(JSON.stringify({ type: "FeatureCollection", features }));
}

/** Rings of many corners, about 3 MB of GeoJSON: enough for several chunks and for a small disk. */
export function ringsFile(count = 240, corners = 300): Uint8Array {
  const features = Array.from({ length: count }, (_, at) => {
    const [x, y] = [(at % 24) * 10 - 120, Math.floor(at / 24) * 10 - 50];
    const ring = Array.from({ length: corners }, (_, corner) => {
      const angle = ((corner % (corners - 1)) / (corners - 1)) * 2 * Math.PI;
      const radius = 3 + (corner % 2) / 10;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    });
    const geometry = { type: "Polygon", coordinates: [ring.with(-1, ring[0]!)] };
    return { type: "Feature", properties: { name: `ring ${at}` }, geometry };
  });
  return Buffer.from(JSON.stringify({ type: "FeatureCollection", features }));
}

export async function putFile(site: Site, name: string, bytes: Uint8Array): Promise<void> {
  const file = path.join(site.dataFolder, "storage/bronze/ddh", name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, bytes);
}

/** Waits until its processing has ended well; answers the asset's id. */
export async function submitVersion(
  client: Client,
  version: {
    readonly dataset: string;
    readonly label: string;
    readonly workflow: "raster_ingest" | "vector_etl";
    readonly inputs: JsonObject;
  },
): Promise<string> {
  const { asset_id, request_id } = await client.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id: version.dataset, resource_id: "main" },
      version_label: version.label,
      workflow_id: version.workflow,
      inputs: version.inputs,
    },
  });
  const ended = await waitFor(
    async () => {
      const request = await client.getRequest({ params: { request_id } });
      return request.completed_at !== null && request;
    },
    { what: `the end of ${version.dataset} ${version.label}`, timeoutMs: 90_000, isFinal: true },
  );
  if (ended.status !== "completed") throw new Error(ended.error?.message ?? ended.status);
  return asset_id;
}

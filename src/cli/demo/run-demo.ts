/**
 * Puts two sample files into storage, runs the shipped workflows that make layers of them and hexagons of
 * the terrain, and reads one tile of each layer to check it.
 */
import type { Client } from "../../core/api/client.ts";
import { createClient } from "../../core/api/client.ts";
import { Failure } from "../common/failure.ts";
import type { RunningSite } from "../up/run-site.ts";
import type { Ingested } from "./ingest.ts";
import { ingest } from "./ingest.ts";
import { makeBorders, makeTerrain } from "./make-samples.ts";
import { openDemoStorage } from "./wiring.ts";
import { writeGeoTiff } from "./write-geotiff.ts";

export interface DemoSummary {
  readonly url: string;
  readonly database: string;
  readonly gdal: readonly string[];
  readonly layers: readonly DemoLayer[];
}

export interface DemoLayer extends Ingested {
  readonly name: string;
  readonly map: string;
  readonly item: string;
  readonly job: string;
  /** Media type and size of one tile in the middle of the layer. */
  readonly tile: { readonly type: string; readonly bytes: number };
}

const collection = "demo";
/** In the Swiss Alps. */
const place = { epsg: 32632, west: 350_000, north: 5_210_000, pixel: 30 };

const samples = [
  {
    name: "terrain",
    file: "bronze/demo/terrain.tif",
    workflow: "raster_ingest",
    inputs: { title: "A synthetic terrain" },
    /** The style of its map. */
    query: "?colormap_name=terrain",
    make: async () => writeGeoTiff(makeTerrain(900, 700), place),
  },
  {
    name: "borders",
    file: "bronze/demo/borders.geojson",
    workflow: "vector_etl",
    inputs: { title: "Countries of the world", table_name: "demo_borders" },
    query: "",
    make: makeBorders,
  },
] as const;

export async function runDemo(
  site: RunningSite,
  dataFolder: string,
  options: { readonly signal: AbortSignal; readonly say: (line: string) => void },
): Promise<DemoSummary> {
  const { signal, say } = options;
  const client = createClient({ baseUrl: site.url, token: site.cliToken, fetch });
  const storage = openDemoStorage(dataFolder);
  const layers = await Promise.all(
    samples.map(async (sample) => {
      const bytes = await sample.make();
      await storage.put(sample.file, bytes);
      say(`${sample.name} │ ${(bytes.byteLength / 1e6).toFixed(1)} MB put at ${sample.file}`);
      const made = await ingest({
        client,
        workflow: sample.workflow,
        signal,
        onLine: (line) => {
          say(`${sample.name} │ ${line}`);
        },
        inputs: {
          ...sample.inputs,
          blob_path: sample.file.replace(/^bronze\//, ""),
          container: "bronze",
          collection_id: collection,
          item_id: sample.name,
        },
      });
      return describeLayer(site, made, sample);
    }),
  );
  layers.push(await makeHexagons(site, client, options));
  return { url: site.url, database: site.database, gdal: await findEngines(client), layers };
}

/** The heights of the terrain by H3 cell. */
async function makeHexagons(
  site: RunningSite,
  client: Client,
  { signal, say }: { readonly signal: AbortSignal; readonly say: (line: string) => void },
): Promise<DemoLayer> {
  const name = "hexagons";
  const made = await ingest({
    client,
    workflow: "h3_raster_aggregation",
    signal,
    onLine: (line) => {
      say(`${name} │ ${line}`);
    },
    inputs: {
      raster: "demo-terrain",
      source_collection_id: collection,
      source_item_id: "terrain",
      period: "static",
      configuration: { min_resolution: 4, max_resolution: 8 },
      collection_id: collection,
      item_id: name,
      title: "Heights of the terrain by H3 cell",
    },
  });
  return describeLayer(site, made, { name, query: "?colormap_name=terrain" });
}

async function describeLayer(
  { url, cliToken, loginUrl }: RunningSite,
  made: Ingested,
  { name, query }: { readonly name: string; readonly query: string },
): Promise<DemoLayer> {
  const item = `/stac/collections/${made.collection_id}/items/${made.item_id}`;
  return {
    name,
    ...made,
    // The links also sign the user in, who has no session yet.
    map: await loginUrl(`${item}/map${query}`),
    item: `${url}${item}`,
    job: await loginUrl(`/ui/jobs/${made.job_id}`),
    tile: await checkTile(`${url}${item}/WebMercatorQuad/tilejson.json${query}`, cliToken),
  };
}

async function checkTile(address: string, token: string): Promise<DemoLayer["tile"]> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(address, { headers });
  if (!answer.ok) throw new Failure(`${address} answers ${answer.status}: ${await answer.text()}`);
  const { tiles, bounds } = (await answer.json()) as {
    tiles: [string];
    bounds: [number, number, number, number];
  };
  const tile = tiles[0].replace(/\{([zxy])\}/g, (_, part: "z" | "x" | "y") =>
    String(middleTile(bounds)[part]),
  );
  const picture = await fetch(tile, { headers });
  const bytes = (await picture.arrayBuffer()).byteLength;
  if (!picture.ok || bytes === 0) throw new Failure(`${tile} answers ${picture.status}.`);
  return { type: picture.headers.get("content-type") ?? "", bytes };
}

/**
 * The tile at the middle of the layer, on the zoom at which a tile is about as wide as the layer.
 */
function middleTile([west, south, east, north]: readonly [number, number, number, number]) {
  const z = Math.max(0, Math.min(14, Math.floor(Math.log2(360 / (east - west)))));
  const latitude = (((south + north) / 2) * Math.PI) / 180;
  const share = (0.5 - Math.asinh(Math.tan(latitude)) / (2 * Math.PI)) * 2 ** z;
  return { z, x: Math.floor((((west + east) / 2 + 180) / 360) * 2 ** z), y: Math.floor(share) };
}

async function findEngines(client: Client): Promise<string[]> {
  const { items } = await client.listWorkers();
  const named = items.flatMap(({ gdal }) =>
    gdal === null
      ? []
      : [`GDAL ${gdal.version} ${gdal.engine === "wasm" ? "as WebAssembly (gdal3.js)" : "native"}`],
  );
  return [...new Set(named)];
}

// Fills a platform with one of each thing, so that `npm run test:api-fuzz` meets answers and not only 404.
import { Buffer } from "node:buffer";
import { setTimeout } from "node:timers/promises";

/** Files that the seed reads, by their place in storage; the values are places in test/fixtures. */
export const seedFiles = {
  "bronze/rgb.tif": "raster/rgb_utm18_nodata0.tif",
  "bronze/land.geojson": "vector/land_110m.geojson",
  "bronze/ddh/rgb.tif": "raster/rgb_utm18_nodata0.tif",
  "bronze/ddh/land.geojson": "vector/land_110m.geojson",
};

/** Answers keys of the platform by their scope, and the ids of all that was made. */
export async function seed(url, token) {
  async function call(method, route, body, headers = {}) {
    const answer = await fetch(url + route, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text}`);
    return { body: text === "" ? {} : JSON.parse(text), headers: answer.headers };
  }
  const get = async (route) => (await call("GET", route)).body;
  const post = async (route, body) => (await call("POST", route, body)).body;

  async function run(workflow_id, inputs) {
    const job = await post("/api/v1/jobs?wait=60", { workflow_id, inputs });
    if (job.status !== "completed") throw new Error(`${workflow_id}: ${JSON.stringify(job)}`);
    return job;
  }

  async function ended(route) {
    for (;;) {
      const found = await get(route);
      if (!["pending", "running"].includes(found.status)) return found;
      await setTimeout(200);
    }
  }

  /** An asset whose version has been approved for everybody. */
  async function publish(resource_id, workflow_id, inputs) {
    const { asset_id, request_id, version_ordinal } = await submit(
      resource_id,
      workflow_id,
      inputs,
    );
    const request = await ended(`/api/v1/requests/${request_id}`);
    if (request.status !== "completed") throw new Error(JSON.stringify(request));
    const version = `/api/v1/assets/${asset_id}/versions/${version_ordinal}`;
    await post(`${version}/approve`, { clearance: "public" });
    return { asset_id, request_id };
  }
  const submit = (resource_id, workflow_id, inputs) =>
    post("/api/v1/submit", {
      platform_id: "ddh",
      platform_refs: { dataset_id: "fuzz", resource_id },
      version_label: "V1",
      workflow_id,
      inputs,
    });

  const hello = await run("hello_world", {});
  const here = { container: "bronze", collection_id: "fuzz" };
  await run("raster_ingest", { ...here, blob_path: "rgb.tif", item_id: "rgb" });
  const land = { blob_path: "land.geojson", table_name: "fuzz_land", item_id: "land" };
  await run("vector_etl", { ...here, ...land });
  const area = { geometry: "polygon", bbox: [10, 46, 10.5, 46.5], max_resolution: 3 };
  const cells = { layer: "fuzz-cells", table_name: "fuzz_land", configuration: area };
  await run("h3_vector_aggregation", cells);
  const raster = await publish("rgb", "raster_ingest", {
    blob_path: "bronze/ddh/rgb.tif",
    collection_id: "ddh-fuzz",
  });
  const vector = await publish("land", "vector_etl", { blob_path: "bronze/ddh/land.geojson" });
  const waiting = await submit("waiting", "hello_world", {});

  const keys = {};
  for (const scope of ["read", "submit", "curate", "admin"]) {
    const body = { platform_id: "ddh", name: `fuzz ${scope}`, scopes: [scope] };
    keys[scope] = (await post("/api/v1/keys", body)).key;
  }
  const spare = { platform_id: "ddh", name: "fuzz spare", scopes: ["read"] };
  const { key_id } = await post("/api/v1/keys", spare);
  const { token_id } = await post("/api/v1/tokens", { name: "fuzz", access: ["read"] });
  const upload = await call("POST", "/api/v1/uploads", undefined, {
    "tus-resumable": "1.0.0",
    "upload-length": "4",
    "upload-metadata": `path ${Buffer.from("bronze/fuzz.bin").toString("base64")}`,
  });
  await call("PUT", "/api/v1/external-services/fuzz", {
    name: "fuzz",
    kind: "xyz",
    url: "https://fuzz.invalid/{z}/{x}/{y}.png",
  });
  const { collections } = await get("/ogc/collections");
  const features = await get(`/ogc/collections/${collections[0].id}/items?limit=1`);
  const { workflow_hash } = await get(`/api/v1/jobs/${hello.job_id}`);
  const { items: nodes } = await get(`/api/v1/jobs/${hello.job_id}/nodes`);
  return {
    keys,
    ids: {
      collection_id: "fuzz",
      item_id: "rgb",
      asset_key: "data",
      asset_id: raster.asset_id,
      version_ordinal: waiting.version_ordinal,
      layer_id: collections[0].id,
      feature_id: String(features.features[0].id),
      dataset: "fuzz-cells",
      raster: "fuzz-cells",
      job_id: hello.job_id,
      node_id: nodes[0].node_id,
      request_id: waiting.request_id,
      platform_id: "ddh",
      workflow_id: "hello_world",
      workflow_hash,
      process_id: "hello_world",
      queue: "functionapp-tasks",
      service_id: "fuzz",
      upload_id: upload.headers.get("location").split("/").at(-1),
      key_id,
      token_id,
    },
    /** Where the same parameter is another thing: by server and the beginning of the path. */
    idsBelow: {
      orchestrator: {
        "/stac/collections/{collection_id}/items/{item_id}/features": { item_id: "land" },
        "/features/": { asset_id: vector.asset_id },
        "/api/v1/assets/{asset_id}/versions": { asset_id: waiting.asset_id },
        // An unknown one has an empty list.
        "/api/v1/metrics/": { workflow_id: undefined },
        "/api/v1/queues/": { queue: undefined },
        // The caller chooses the ids of requests.
        "/api/v1/requests/": { request_id: undefined },
      },
      gateway: { "/api/assets/{asset_id}/versions": { asset_id: waiting.asset_id } },
    },
  };
}

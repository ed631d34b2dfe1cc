import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seesAll } from "../../core/domain/served-version.ts";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest, tokens } from "../../../test/support/api.ts";
import { loadSquares } from "../../../test/support/squares-table.ts";
import { makeWorkflowFolder } from "../../../test/support/domain.ts";
import { registerFor } from "../../../test/support/stac.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import { deleteItem, upsertItems } from "../../adapters/postgres/repositories/catalogue.ts";
import type { StacItem } from "../../core/catalogue/stac.ts";
import { createItemLayers } from "./find-item-layer.ts";
import { findAssetLayer } from "./find-layer.ts";

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  await test.storage.put("bronze/ddh/birds.tif", new Uint8Array([1]));
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

const anonymous = { reads: false, curates: false };
const reader = { reads: true, curates: false };
const curator = { reads: true, curates: true };

let counter = 0;

function item(id: string, path: string): StacItem {
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    collection: "birds",
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [10, 50],
          [11, 50],
          [11, 51],
          [10, 51],
          [10, 50],
        ],
      ],
    },
    bbox: [10, 50, 11, 51],
    properties: {
      datetime: "2026-01-01T00:00:00Z",
      title: "As the workflow called it",
      renders: { default: { assets: ["data"], rescale: [[0, 1]] } },
    },
    links: [],
    assets: { data: { href: "/x", "rmhdag:path": path } },
  };
}

/** A version of an asset, processed, with its item in the catalogue. */
async function makeVersion(dataset = `layer-${++counter}`, version_label = "V1") {
  const accepted = await test.operator.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id: dataset, resource_id: "r" },
      version_label,
      workflow_id: "etl_test",
      inputs: { blob_path: "ddh/birds.tif" },
    },
  });
  const stac_item_id = `${dataset}-${version_label}`;
  const blob_path = `silver/${stac_item_id}.tif`;
  await registerFor(test.domain.db, accepted.job_id, [item(stac_item_id, blob_path)]);
  for (const task of await test.engine.take(accepted.job_id)) {
    const output = { blob_path, stac_item_id, stac_collection_id: "birds", content_hash: "one" };
    await test.engine.complete(task, output);
  }
  await test.engine.tick();
  return { ...accepted, dataset, blob_path, stac_item_id };
}

const approve = (asset_id: string, version_ordinal: number, clearance: "ouo" | "public") =>
  test.curator.approveVersion({ params: { asset_id, version_ordinal }, body: { clearance } });

const pathOf = async (
  asset_id: string,
  version: "latest" | number,
  viewer = reader,
  preview = false,
) => {
  const layer = await findAssetLayer(test.domain.db, { asset_id, version, preview }, viewer);
  return layer.kind === "raster" ? layer.data_path : layer.kind === "vector" ? layer.table : "";
};

describe("an asset's address", () => {
  it("serves nothing before an approval, except to a curator who previews", async () => {
    const { asset_id, blob_path } = await makeVersion();
    await expect(pathOf(asset_id, "latest")).rejects.toMatchObject({ code: "LAYER_NOT_FOUND" });
    await expect(pathOf(asset_id, 0, reader, true)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await pathOf(asset_id, 0, curator, true)).toBe(blob_path);
  });

  it("serves official use to those with a token, and the public to all", async () => {
    const { asset_id, blob_path } = await makeVersion();
    await approve(asset_id, 0, "ouo");
    expect(await pathOf(asset_id, "latest")).toBe(blob_path);
    await expect(pathOf(asset_id, "latest", anonymous)).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
    await test.curator.setClearance({ params: { asset_id }, body: { clearance: "public" } });
    expect(await pathOf(asset_id, "latest", anonymous)).toBe(blob_path);
  });

  it("answers alike for a hidden and for a missing layer", async () => {
    const { asset_id } = await makeVersion();
    for (const viewer of [anonymous, reader]) {
      const answer = (id: string) => pathOf(id, "latest", viewer).catch((error: unknown) => error);
      expect(await answer(asset_id)).toEqual(await answer("0".repeat(32)));
    }
  });

  it("follows exposure, and latest moves while a version's own address stays", async () => {
    const first = await makeVersion();
    const { asset_id, dataset } = first;
    await approve(asset_id, 0, "ouo");
    await expect(pathOf(asset_id, 0)).rejects.toMatchObject({ code: "LAYER_NOT_FOUND" });
    await test.curator.setExposure({ params: { asset_id }, body: { exposure: "all-versions" } });
    const second = await makeVersion(dataset, "V2");
    expect(await pathOf(asset_id, "latest")).toBe(first.blob_path);
    await expect(pathOf(asset_id, 1)).rejects.toMatchObject({ code: "LAYER_NOT_FOUND" });
    await approve(asset_id, 1, "ouo");
    expect(await pathOf(asset_id, "latest")).toBe(second.blob_path);
    expect(await pathOf(asset_id, 0)).toBe(first.blob_path);
    expect(await pathOf(asset_id, 1)).toBe(second.blob_path);
  });

  it("falls silent the moment that an approval, the clearance or the asset is withdrawn", async () => {
    const { asset_id } = await makeVersion();
    const params = { asset_id, version_ordinal: 0 };
    await approve(asset_id, 0, "ouo");
    await test.curator.withdrawVersion({ params, body: { reason: "a complaint" } });
    await expect(pathOf(asset_id, "latest")).rejects.toMatchObject({ code: "LAYER_NOT_FOUND" });
    await approve(asset_id, 0, "ouo");
    expect(await pathOf(asset_id, "latest")).toBeDefined();
    await test.curator.setClearance({ params: { asset_id }, body: { clearance: "uncleared" } });
    await expect(pathOf(asset_id, "latest")).rejects.toMatchObject({ code: "LAYER_NOT_FOUND" });
    await test.curator.setClearance({ params: { asset_id }, body: { clearance: "ouo" } });
    await test.curator.unpublishAsset({ params: { asset_id } });
    await expect(pathOf(asset_id, "latest")).rejects.toMatchObject({ code: "LAYER_NOT_FOUND" });
  });

  it("answers over HTTP with the item of the version that is served", async () => {
    const { asset_id, stac_item_id } = await makeVersion();
    await approve(asset_id, 0, "ouo");
    const url = `${test.baseUrl}/tiles/${asset_id}/item`;
    expect((await fetch(url)).status).toBe(401);
    const answer = await fetch(url, { headers: { authorization: `Bearer ${tokens.reader}` } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ id: stac_item_id });
    const asset = await test.reader.getAsset({ params: { asset_id } });
    expect(asset.services).toMatchObject([
      { version: "latest", stac_item: `/tiles/${asset_id}/item?version=latest` },
    ]);
  });

  it("is signed as a landing page of the served features, until they are withdrawn", async () => {
    await loadSquares(test.domain.db, {
      table_name: "served_squares",
      form: "wkb",
      load_id: "one",
      columns: [{ name: "name", type: "text", source: "name" }],
      rows: [{ west: 1, attributes: "one" }],
    });
    const refs = { dataset_id: "squares", resource_id: "r" };
    const inputs = { blob_path: "ddh/birds.tif" };
    const common = { platform_id: "ddh", version_label: "V1", workflow_id: "etl_test" };
    const { asset_id, job_id } = await test.operator.submitAsset({
      body: { ...common, platform_refs: refs, inputs },
    });
    for (const task of await test.engine.take(job_id)) {
      await test.engine.complete(task, { table_name: "served_squares", content_hash: "one" });
    }
    await test.engine.tick();
    await approve(asset_id, 0, "ouo");
    const params = { asset_id };
    const { ogc } = await test.reader.signAssetLayer({ params });
    const listed = async () =>
      (await (await fetch(`${ogc!}/collections`)).json()) as { collections: object[] };
    expect((await listed()).collections).toMatchObject([{ id: asset_id, numberMatched: 1 }]);
    const items = `${ogc!}/collections/${asset_id}/items`;
    expect(await (await fetch(items)).json()).toMatchObject({ numberMatched: 1 });
    const query = { version: "0" };
    await test.curator.setExposure({ params, body: { exposure: "all-versions" } });
    expect((await test.reader.signAssetLayer({ params, query })).ogc).toBeNull();
    await test.curator.setClearance({ params, body: { clearance: "uncleared" } });
    expect((await listed()).collections).toEqual([]);
    expect((await fetch(items)).status).toBe(404);
  });

  it("serves a revision that was rolled back to from that revision's own file", async () => {
    const { asset_id, blob_path } = await makeVersion();
    await approve(asset_id, 0, "ouo");
    const params = { asset_id, version_ordinal: 0 };
    const again = await test.operator.reprocessVersion({ params });
    for (const task of await test.engine.take(again.job_id)) {
      await test.engine.complete(task, { blob_path: "silver/second.tif", content_hash: "one" });
    }
    await test.engine.tick();
    expect(await pathOf(asset_id, "latest")).toBe("silver/second.tif");
    await test.operator.rollbackVersion({ params, body: { to_revision: 1 } });
    expect(await pathOf(asset_id, "latest")).toBe(blob_path);
  });
});

describe("an item's address", () => {
  it("hides a layer that was served the moment its clearance or approval is withdrawn", async () => {
    const { asset_id, stac_item_id, blob_path } = await makeVersion();
    await approve(asset_id, 0, "ouo");
    const { find: findLayer } = createItemLayers(test.domain.db);
    const caller = { name: "reader", access: ["read"] as const };
    const params = { collection_id: "birds", item_id: stac_item_id };
    const find = () => findLayer({ params, caller });
    const served = await find();
    expect(served).toMatchObject({ kind: "raster", data_path: blob_path });
    // The same object: it was not read again.
    expect(await find()).toBe(served);
    await expect(findLayer({ params, caller: undefined })).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
    const hidden = { code: "ITEM_NOT_FOUND" };
    await test.curator.setClearance({ params: { asset_id }, body: { clearance: "uncleared" } });
    await expect(find()).rejects.toMatchObject(hidden);
    await test.curator.setClearance({ params: { asset_id }, body: { clearance: "ouo" } });
    expect(await find()).toMatchObject({ data_path: blob_path });
    const version = { asset_id, version_ordinal: 0 };
    await test.curator.withdrawVersion({ params: version, body: { reason: "a complaint" } });
    await expect(find()).rejects.toMatchObject(hidden);
  });

  it("shows a change of the item with the next request", async () => {
    await makeVersion();
    const { db } = test.domain;
    const { find: findLayer } = createItemLayers(db);
    const caller = { name: "curator", access: ["read", "curate"] as const };
    const find = () => findLayer({ params: { collection_id: "birds", item_id: "own" }, caller });
    for (const path of ["silver/one.tif", "silver/other.tif"]) {
      await upsertItems(db, "birds", [item("own", path)]);
      expect(await find()).toMatchObject({ data_path: path });
    }
    await deleteItem(db, "birds", "own");
    await expect(find()).rejects.toMatchObject({ code: "ITEM_NOT_FOUND" });
  });
});

describe("a map of official use", () => {
  it("sends a browser without a session to sign in, and every other client the problem", async () => {
    const { asset_id } = await makeVersion();
    await approve(asset_id, 0, "ouo");
    const map = `/tiles/${asset_id}/map`;
    const ask = (headers: Record<string, string>, path = map) =>
      fetch(test.baseUrl + path, { headers, redirect: "manual" });
    const page = { accept: "text/html,application/xhtml+xml" };
    const sent = await ask(page, `${map}?version=latest`);
    expect(sent.status).toBe(303);
    expect(sent.headers.get("location")).toBe(
      `/ui/open?to=${encodeURIComponent(`${map}?version=latest`)}`,
    );
    const collection = await ask(page, "/stac/collections/hidden/map");
    expect(collection.status).toBe(303);
    expect((await ask({ accept: "application/json" })).status).toBe(401);
    expect((await ask({ ...page, authorization: "Bearer wrong" })).status).toBe(401);
    const reads = { ...page, authorization: `Bearer ${tokens.reader}` };
    expect((await ask(reads)).status).toBe(200);
  });
});

describe("layer metadata", () => {
  const edit = {
    display_name: "Birds of the north",
    description: "Where they breed",
    keywords: ["birds"],
    style: { rescale: [[0, 255]] as [number, number][], colormap_name: "viridis" as const },
  };

  it("is replaced only by who has seen what is there", async () => {
    const { asset_id } = await makeVersion();
    const params = { asset_id };
    await expect(test.reader.getLayerMetadata({ params })).rejects.toMatchObject({
      code: "METADATA_NOT_FOUND",
    });
    const first = await test.curator.putLayerMetadata({ params, body: edit });
    expect(first).toMatchObject({ row_version: 1, updated_by: "curator", legend: null });
    await expect(test.curator.putLayerMetadata({ params, body: edit })).rejects.toMatchObject({
      code: "EDIT_NEEDS_MATCH",
      status: 428,
    });
    const put = (seen: number) =>
      test.curator.putLayerMetadata({
        params,
        headers: { "if-match": `"${seen}"` },
        body: { ...edit, min_zoom: seen },
      });
    const both = await Promise.allSettled([put(1), put(1)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(put(1)).rejects.toMatchObject({ code: "EDIT_CONFLICT", status: 409 });
  });

  it("refuses a style that the tiles could not use", async () => {
    const { asset_id } = await makeVersion();
    await expect(
      test.curator.putLayerMetadata({
        params: { asset_id },
        body: { ...edit, style: { colormap_name: "nothing" } as never },
      }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("dresses the layer: its title and style, under a new tag", async () => {
    const { asset_id } = await makeVersion();
    await approve(asset_id, 0, "ouo");
    const wanted = { asset_id, version: "latest", preview: false } as const;
    const plain = await findAssetLayer(test.domain.db, wanted, reader);
    expect(plain).toMatchObject({ title: "As the workflow called it", bounds: [10, 50, 11, 51] });
    await test.curator.putLayerMetadata({ params: { asset_id }, body: edit });
    const dressed = await findAssetLayer(test.domain.db, wanted, reader);
    expect(dressed).toMatchObject({ title: edit.display_name, style: edit.style });
    expect(dressed.version_tag).not.toBe(plain.version_tag);
  });

  it("styles a version without an effect on what is served, until its approval", async () => {
    const { asset_id, dataset } = await makeVersion();
    await test.curator.putLayerMetadata({ params: { asset_id }, body: edit });
    await approve(asset_id, 0, "public");
    await makeVersion(dataset, "V2");
    const look = (version: "latest" | number, preview = false) =>
      findAssetLayer(test.domain.db, { asset_id, version, preview }, preview ? curator : anonymous);
    const served = await look("latest");
    const plain = await look(1, true);
    const params = { asset_id, version_ordinal: 1 };
    const style = { rescale: [[7, 9]] as [number, number][] };
    expect(await test.curator.putVersionStyle({ params, body: { style } })).toMatchObject({
      version_ordinal: 1,
      style,
    });
    expect(await look("latest")).toEqual(served);
    expect(await look(1, true)).toMatchObject({ style });
    expect((await look(1, true)).version_tag).not.toBe(plain.version_tag);
    await approve(asset_id, 1, "public");
    expect(await look("latest")).toMatchObject({ style, title: edit.display_name });
    const { versions, display_name } = await test.reader.getAsset({ params: { asset_id } });
    expect(versions.map((version) => version.style)).toEqual([null, null]);
    expect(display_name).toBe(edit.display_name);
    // From now on it is the style of the asset, and of what is served.
    await expect(test.curator.putVersionStyle({ params, body: { style } })).rejects.toMatchObject({
      code: "TRANSITION_REFUSED",
    });
  });

  it("refuses the style of a version that is wrong, missing, stale, or of an asset without a name", async () => {
    const { asset_id } = await makeVersion();
    const params = { asset_id, version_ordinal: 0 };
    const put = (over: object = {}, headers = {}) =>
      test.curator.putVersionStyle({
        params: { ...params, ...over },
        headers,
        body: { style: {} },
      });
    await expect(put()).rejects.toMatchObject({ code: "METADATA_NOT_FOUND" });
    await test.curator.putLayerMetadata({ params, body: edit });
    await expect(put({ version_ordinal: 7 })).rejects.toMatchObject({ code: "VERSION_NOT_FOUND" });
    await expect(put({}, { "if-match": '"1"' })).rejects.toMatchObject({ code: "EDIT_CONFLICT" });
    await expect(
      test.curator.putVersionStyle({ params, body: { style: { rescale: [[9, 7]] } } }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(
      test.operator.putVersionStyle({ params, body: { style: null } }),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("lists as waiting for a review only what can be reviewed", async () => {
    const { asset_id, dataset } = await makeVersion();
    await approve(asset_id, 0, "ouo");
    const running = await test.operator.submitAsset({
      body: {
        platform_id: "ddh",
        platform_refs: { dataset_id: dataset, resource_id: "r" },
        version_label: "unfinished",
        workflow_id: "etl_test",
        inputs: { blob_path: "ddh/birds.tif" },
      },
    });
    const waiting = await makeVersion();
    const query = { approval_state: "pending_review", processing_state: "completed" } as const;
    const { items } = await test.reader.listAssets({ query: { ...query, limit: 500 } });
    const found = new Map(items.map((asset) => [asset.asset_id, asset.review_ordinal]));
    expect(running.asset_id).toBe(asset_id);
    expect(found.has(asset_id)).toBe(false);
    expect(found.get(waiting.asset_id)).toBe(0);
  });

  it("is projected to STAC and the layer catalogue by a command, and taken out by another", async () => {
    const { asset_id, stac_item_id } = await makeVersion();
    const run = (name: string) =>
      test.operator.runCommand({ params: { name }, body: { asset_id } });
    await expect(run("metadata.publish")).rejects.toMatchObject({ code: "METADATA_NOT_FOUND" });
    await test.curator.putLayerMetadata({ params: { asset_id }, body: edit });
    await expect(run("metadata.publish")).rejects.toMatchObject({ code: "TRANSITION_REFUSED" });
    await approve(asset_id, 0, "ouo");
    expect((await run("metadata.publish")).result).toMatchObject({ in_stac: true });
    const read = () => findItem(test.domain.db, seesAll, "birds", stac_item_id);
    expect((await read())?.properties).toMatchObject({
      title: edit.display_name,
      keywords: ["birds"],
      renders: { default: { colormap_name: "viridis", rescale: [[0, 255]], assets: ["data"] } },
    });
    const layers = async () => (await test.reader.listLayers({ query: { limit: 500 } })).items;
    const listed = (await layers()).find((layer) => layer.asset_id === asset_id);
    expect(listed).toMatchObject({
      layer_type: "raster",
      published_by: "operator",
      layer: { display_name: edit.display_name },
    });
    await run("asset.reindex");
    await run("metadata.unpublish");
    expect((await layers()).some((layer) => layer.asset_id === asset_id)).toBe(false);
    expect((await read())?.properties).toEqual(item("x", "y").properties);
  });

  it("can be deleted, with what was published of it", async () => {
    const { asset_id } = await makeVersion();
    const params = { asset_id };
    await test.curator.putLayerMetadata({ params, body: edit });
    expect(await test.curator.deleteLayerMetadata({ params })).toEqual({ deleted: true });
    await expect(test.curator.deleteLayerMetadata({ params })).rejects.toMatchObject({
      code: "METADATA_NOT_FOUND",
    });
  });
});

describe("cache.invalidate", () => {
  it("has the workflow files read again", async () => {
    const { result } = await test.operator.runCommand({
      params: { name: "cache.invalidate" },
      body: {},
    });
    expect(result).toMatchObject({ reloaded: true });
  });
});

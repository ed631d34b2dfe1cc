/** What a submission names is looked for where it lies, before anything is created. */
import type { Server } from "node:http";
import { createServer } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest } from "../../../test/support/api.ts";
import { makeWorkflowFolder } from "../../../test/support/domain.ts";
import { collectionOf } from "../../../test/support/stac.ts";
import { createSourceResolver } from "../../adapters/storage/resolve-source.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { checkWork } from "./check-submission.ts";
import { upsertCollection } from "../../adapters/postgres/repositories/catalogue.ts";
import { operators } from "../../core/catalogue/owner.ts";
import type { AssetDeps } from "./deps.ts";

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
let server: Server;
let host: string;
let mount: string;
let deps: Pick<AssetDeps, "db" | "engine" | "sources" | "callbacks">;
const asked: string[] = [];

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  for (const name of ["bronze/a.tif", "bronze/ddh/a.tif", "bronze/a.zip", "results/a.zip"]) {
    await test.storage.put(name, new Uint8Array([1]));
  }
  mount = path.join(folder.folder, "mount");
  await mkdir(mount);
  await writeFile(path.join(mount, "a.tif"), "x");
  server = createServer((request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    response.writeHead(request.url === "/there.tif" ? 200 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { db, engine, callbacks } = test.domain;
  const sources = createSourceResolver({
    storage: test.storage,
    // Without a certificate there is only http; which schemes are good is tried elsewhere.
    https: { allowedHosts: [host, "127.0.0.1:9"], schemes: ["http:"] },
    mounts: [mount],
  });
  deps = { db, engine, callbacks, sources };
});
afterAll(async () => {
  server.close();
  await test.close();
  await folder.remove();
});

async function findings(
  inputs: JsonObject,
  source_prefixes: string[] = ["bronze", "results", `http://${host}`, "http://127.0.0.1:9", mount],
  workflow_id = "raster_ingest",
): Promise<string[]> {
  const platform = await test.reader.getPlatform({ params: { platform_id: "ddh" } });
  const given = { collection_id: "c", ...inputs };
  const found = await checkWork(
    deps,
    { ...platform, source_prefixes },
    { workflow_id, inputs: given },
  );
  return found.map(({ pointer, code }) => `${pointer} ${code}`);
}

describe("a source", () => {
  it.each([
    ["bronze/a.tif", []],
    ["bronze/none.tif", ["BLOB_NOT_FOUND"]],
    ["http://HOST/there.tif", []],
    ["http://HOST/none.tif", ["BLOB_NOT_FOUND"]],
    ["/vsicurl/http://HOST/there.tif", ["BLOB_PATH"]],
    ["http://127.0.0.1:9/a.tif", ["SOURCE_UNREACHABLE"]],
    ["http://169.254.169.254/a.tif", ["BLOB_PATH"]],
    ["ftp://HOST/a.tif", ["BLOB_PATH"]],
    ["/vsizip/bronze/a.zip/a.tif", ["BLOB_PATH"]],
    ["/vsis3/bucket/a.tif", ["BLOB_PATH"]],
    ["MOUNT/a.tif", []],
    ["MOUNT/none.tif", ["BLOB_NOT_FOUND"]],
    ["/etc/secret.tif", ["BLOB_PATH"]],
    ["bronze/../results/a.tif", ["BLOB_PATH"]],
  ])("%s is judged as %j", async (text, codes) => {
    const blob_path = text.replace("HOST", host).replace("MOUNT", mount);
    expect(await findings({ blob_path })).toEqual(codes.map((code) => `/inputs/blob_path ${code}`));
  });

  it("is looked for together with all the others, and each is named", async () => {
    const blob_paths = ["bronze/none.tif", "bronze/a.tif", `http://${host}/none.tif`, "a.doc"];
    expect(await findings({ blob_paths, container: 7 }, undefined, "raster_collection")).toEqual([
      "/inputs/container WRONG_INPUT",
      "/inputs/blob_paths/3 EXTENSION",
      "/inputs/blob_paths/0 BLOB_NOT_FOUND",
      "/inputs/blob_paths/2 BLOB_NOT_FOUND",
      "/inputs/blob_paths/3 BLOB_PATH",
    ]);
  });
});

describe("a platform without places of its own", () => {
  it("submits what lies in bronze below its id, and nothing else is even looked for", async () => {
    expect(await findings({ blob_path: "bronze/ddh/a.tif" }, [])).toEqual([]);
    asked.length = 0;
    const elsewhere = ["bronze/a.tif", "bronze/ddh2/a.tif", "silver/ddh/a.tif", `${mount}/a.tif`];
    const blob_paths = [...elsewhere, `http://${host}/there.tif`, "bronze/ddh/../a.tif"];
    expect(await findings({ blob_paths }, [], "raster_collection")).toEqual([
      ...[0, 1, 2, 3, 4].map((index) => `/inputs/blob_paths/${index} BLOB_OUTSIDE`),
      "/inputs/blob_paths/5 BLOB_PATH",
    ]);
    expect(asked).toEqual([]);
  });

  it.each(["ddh", "arcgis", "geonode"])("is %s, as the migrations register it", async (name) => {
    const { source_prefixes } = await test.reader.getPlatform({ params: { platform_id: name } });
    expect(source_prefixes).toEqual([]);
  });
});

describe("a collection", () => {
  it("of others is refused to a platform, until an operator allows it", async () => {
    const { db } = test.domain;
    await upsertCollection(db, collectionOf("shared"), operators);
    const blob_path = "bronze/ddh/a.tif";
    const refused = ["/inputs/collection_id COLLECTION_NOT_YOURS"];
    expect(await findings({ blob_path, collection_id: "shared" })).toEqual(refused);
    expect(await findings({ blob_path, collection_id: "new" })).toEqual([]);
    const params = { platform_id: "ddh" };
    const { row_version, ...platform } = await test.reader.getPlatform({ params });
    const { display_name, required_refs, version_ref } = platform;
    const edit = { display_name, required_refs, version_ref, collections: ["shared"] };
    const headers = { "if-match": `"${row_version}"` };
    await test.operator.putPlatform({ params, headers, body: edit });
    expect(await findings({ blob_path, collection_id: "shared" })).toEqual([]);
  });
});

describe("a platform that has places of its own", () => {
  it("submits what lies there, and nothing else is even looked for", async () => {
    const places = ["bronze/ddh", `http://${host}/ddh`];
    expect(await findings({ blob_path: "bronze/ddh/a.tif" }, places)).toEqual([]);
    expect(await findings({ blob_path: "a.tif", container: "bronze" }, places)).toEqual([
      "/inputs/blob_path BLOB_OUTSIDE",
    ]);
    asked.length = 0;
    const elsewhere = { blob_paths: ["bronze/a.tif", `http://${host}/there.tif`] };
    expect(await findings(elsewhere, places, "raster_collection")).toEqual([
      "/inputs/blob_paths/0 BLOB_OUTSIDE",
      "/inputs/blob_paths/1 BLOB_OUTSIDE",
    ]);
    expect(asked).toEqual([]);
  });

  it("has them in the registry", async () => {
    const params = { platform_id: "confined" };
    const body = { display_name: "Confined", required_refs: ["id"] };
    const put = (source_prefixes: string[]) =>
      test.operator.putPlatform({ params, body: { ...body, source_prefixes } });
    for (const wrong of ["bronze/../silver", "/vsizip/bronze", "http://plain.example/", "a b"]) {
      await expect(put([wrong])).rejects.toMatchObject({ code: "BAD_REQUEST" });
    }
    await put(["bronze/confined"]);
    const submit = (blob_path: string) =>
      test.operator.submitAsset({
        body: {
          platform_id: "confined",
          platform_refs: { id: "1" },
          version_label: "1",
          workflow_id: "etl_test",
          inputs: { blob_path },
        },
      });
    await expect(submit("a.tif")).rejects.toMatchObject({
      code: "INVALID_SUBMISSION",
      items: [{ pointer: "/inputs/blob_path", code: "BLOB_OUTSIDE" }],
    });
    await test.storage.put("bronze/confined/a.tif", new Uint8Array([1]));
    expect(await submit("confined/a.tif")).toMatchObject({ version_ordinal: 0 });
  });
});

describe("a workflow that maintains the data of all platforms", () => {
  it.each(["adf_export", "adf_withdraw", "detect_orphans", "rebuild_stac", "unpublish_raster"])(
    "%s is not started by a platform",
    async (workflow_id) => {
      expect(await findings({}, undefined, workflow_id)).toEqual([
        "/workflow_id WORKFLOW_NOT_OFFERED",
      ]);
    },
  );
});

/** Resumable uploads: tus 1.0 by the protocol's own client, and by hand where that client is too kind. */
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { Upload } from "tus-js-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sweepUploads } from "../../src/orchestrator/files/finish-upload.ts";
import { createAzureStaging } from "../../src/adapters/storage/azure-staging.ts";
import { createAzureStorage } from "../../src/adapters/storage/azure-storage.ts";
import type { Client } from "../../src/core/api/client.ts";
import { createClient } from "../../src/core/api/client.ts";
import { createLocalStaging } from "../../src/adapters/storage/local-staging.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { writeMetadata } from "../../src/core/files/upload-headers.ts";
import { azureSettings, connectTo, startAzurite } from "../support/azurite.ts";
import { openApiTest, tokens } from "../support/api.ts";
import type { ApiTest } from "../support/api.ts";
import { waitFor } from "../support/wait.ts";
import { packZip } from "../support/zip.ts";

let test: ApiTest;
beforeAll(async () => {
  test = await openApiTest();
});
afterAll(() => test.close());

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const bearer = { authorization: `Bearer ${tokens.operator}` };
const tus = { ...bearer, "tus-resumable": "1.0.0" };
const partType = { "content-type": "application/offset+octet-stream" };

async function announce(
  length: number,
  metadata: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${test.baseUrl}/api/v1/uploads`, {
    method: "POST",
    headers: {
      ...tus,
      "upload-length": String(length),
      "upload-metadata": writeMetadata(metadata),
      ...headers,
    },
  });
}

async function begin(length: number, metadata: Record<string, string>): Promise<string> {
  const answer = await announce(length, metadata);
  expect(answer.status, await answer.clone().text()).toBe(201);
  return new URL(answer.headers.get("location") ?? "", test.baseUrl).href;
}

async function send(
  url: string,
  offset: number,
  bytes: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: "PATCH",
    headers: { ...tus, ...partType, "upload-offset": String(offset), ...headers },
    body: bytes,
  });
}

async function offsetOf(url: string): Promise<number> {
  const answer = await fetch(url, { method: "HEAD", headers: tus });
  expect(answer.status).toBe(200);
  return Number(answer.headers.get("upload-offset"));
}

const filesIn = async (folder: string) =>
  (await test.operator.browseStorage({ query: { folder } })).items.map((item) => item.path);

describe("the protocol's own client", () => {
  it("uploads in parts, and the file appears with its last byte", async () => {
    const content = randomBytes(3 * 1024 * 1024 + 11);
    const seen: string[][] = [];
    await new Promise<void>((resolve, reject) => {
      const upload = new Upload(content, {
        endpoint: `${test.baseUrl}/api/v1/uploads`,
        chunkSize: 1024 * 1024,
        headers: bearer,
        metadata: { path: "bronze/tus/whole & süß.bin", sha256: sha256(content) },
        onError: reject,
        onChunkComplete: () => {
          if (seen.length < 3) void filesIn("bronze/tus/").then((files) => seen.push(files));
        },
        onSuccess: () => {
          resolve();
        },
      });
      upload.start();
    });
    const stored = Buffer.from(await test.storage.get("bronze/tus/whole & süß.bin"));
    expect(stored.equals(content)).toBe(true);
    expect(seen[0]).toEqual([]);
    expect(await filesIn("bronze/tus/")).toEqual(["bronze/tus/whole & süß.bin"]);
    expect(await readdir(path.join(test.engine.folder, ".uploads"))).toEqual([]);
  });

  it("goes on where it was stopped", async () => {
    const content = randomBytes(4 * 1024 * 1024);
    const options = {
      endpoint: `${test.baseUrl}/api/v1/uploads`,
      chunkSize: 1024 * 1024,
      headers: bearer,
      metadata: { filename: "stopped.bin" },
    };
    const url = await new Promise<string>((resolve, reject) => {
      const upload: Upload = new Upload(content, {
        ...options,
        onError: reject,
        onChunkComplete: () => {
          void upload.abort().then(() => {
            resolve(upload.url ?? "");
          });
        },
      });
      upload.start();
    });
    const before = await offsetOf(url);
    expect(before).toBeGreaterThanOrEqual(1024 * 1024);
    expect(await filesIn("bronze/")).toEqual([]);
    const sent: number[] = [];
    await new Promise<void>((resolve, reject) => {
      new Upload(content, {
        ...options,
        uploadUrl: url,
        onError: reject,
        onChunkComplete: (_size, accepted) => sent.push(accepted),
        onSuccess: () => {
          resolve();
        },
      }).start();
    });
    expect(sent[0]).toBeGreaterThan(before);
    expect(sha256(await test.storage.get("bronze/stopped.bin"))).toBe(sha256(content));
  });
});

describe("an upload", () => {
  it("keeps what arrived before its connection broke", async () => {
    const content = randomBytes(1024 * 1024);
    const url = await begin(content.length, { path: "bronze/broken.bin" });
    const half = content.subarray(0, 400_000);
    await new Promise<void>((resolve) => {
      const sending = request(url, {
        method: "PATCH",
        headers: { ...tus, ...partType, "upload-offset": "0", "content-length": content.length },
      });
      sending.on("error", () => {
        resolve();
      });
      sending.write(half, () => {
        // The bytes must be on their way through the server before the line is cut.
        void waitFor(
          async () => {
            const files = await readdir(path.join(test.engine.folder, ".uploads")).catch(() => []);
            return files.length > 0;
          },
          { what: "the first bytes" },
        ).then(() => sending.destroy());
      });
    });
    await waitFor(async () => (await offsetOf(url)) > 0, { what: "the bytes that came" });
    const kept = await offsetOf(url);
    expect(kept).toBeLessThanOrEqual(half.length);
    expect(await test.storage.head("bronze/broken.bin")).toBeUndefined();
    expect((await send(url, kept, content.subarray(kept))).status).toBe(204);
    expect(sha256(await test.storage.get("bronze/broken.bin"))).toBe(sha256(content));
  });

  it("refuses a part whose checksum is another, and takes it again", async () => {
    const content = Buffer.from("hello world");
    const url = await begin(content.length, { path: "bronze/checked.txt" });
    // The example of the specification.
    const right = { "upload-checksum": "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=" };
    const wrong = { "upload-checksum": "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu1=" };
    const refused = await send(url, 0, content, wrong);
    expect(refused.status).toBe(460);
    expect(refused.headers.get("tus-resumable")).toBe("1.0.0");
    expect(await offsetOf(url)).toBe(0);
    expect((await send(url, 0, content, { "upload-checksum": "crc32 AAAA" })).status).toBe(400);
    const taken = await send(url, 0, content, right);
    expect(taken.status).toBe(204);
    expect(taken.headers.get("upload-offset")).toBe("11");
  });

  it("is dropped when the whole file is not what was announced", async () => {
    const url = await begin(3, { path: "bronze/damaged.bin", sha256: sha256(Buffer.from("abc")) });
    const answer = await send(url, 0, Buffer.from("abx"));
    expect(await answer.json()).toMatchObject({ status: 460, code: "CHECKSUM_MISMATCH" });
    expect((await fetch(url, { method: "HEAD", headers: tus })).status).toBe(404);
    expect(await test.storage.head("bronze/damaged.bin")).toBeUndefined();
  });

  it("takes each byte once: a part that does not follow, or is too long, is refused", async () => {
    const url = await begin(6, { path: "bronze/order.txt" });
    expect((await send(url, 0, Buffer.from("abc"))).status).toBe(204);
    const again = await send(url, 0, Buffer.from("abc"));
    expect(again.status).toBe(409);
    expect(again.headers.get("upload-offset")).toBe("3");
    expect((await send(url, 3, Buffer.from("defg"))).status).toBe(413);
    const wrongType = await send(url, 3, Buffer.from("def"), { "content-type": "text/plain" });
    expect(wrongType.status).toBe(415);
    expect((await send(url, 3, Buffer.from("def"))).status).toBe(204);
    expect(Buffer.from(await test.storage.get("bronze/order.txt")).toString()).toBe("abcdef");
  });

  it("never replaces a file by mistake, and an empty one is complete at once", async () => {
    await begin(0, { path: "bronze/empty.txt" });
    expect((await test.storage.head("bronze/empty.txt"))?.bytes).toBe(0);
    expect(await (await announce(0, { path: "bronze/empty.txt" })).json()).toMatchObject({
      code: "FILE_EXISTS",
    });
    const url = await begin(1, { path: "bronze/empty.txt", replace: "true" });
    await send(url, 0, Buffer.from("x"));
    expect((await test.storage.head("bronze/empty.txt"))?.bytes).toBe(1);
    // Two that began when there was no file yet: the second to end is refused, and not lost.
    const [first, second] = [
      await begin(1, { path: "bronze/race" }),
      await begin(1, { path: "bronze/race" }),
    ];
    expect((await send(first, 0, Buffer.from("1"))).status).toBe(204);
    expect((await send(second, 0, Buffer.from("2"))).status).toBe(409);
    expect(Buffer.from(await test.storage.get("bronze/race")).toString()).toBe("1");
  });

  it.each([
    [{ path: "silver/x.tif" }, 400],
    [{ path: "bronze/../silver/x.tif" }, 400],
    [{ path: "bronze/a\u0000b" }, 400],
    [{ nothing: "x" }, 400],
    [{ path: "bronze/x", sha256: "no" }, 400],
  ] as const)("is refused with the metadata %j", async (metadata, status) => {
    const answer = await announce(1, metadata);
    expect(answer.status).toBe(status);
  });

  it("has a largest size, a version and a caller with rights", async () => {
    const large = await announce(2 * 1024 ** 3, { path: "bronze/large" });
    expect(large.status).toBe(413);
    expect(large.headers.get("tus-max-size")).toBe(String(1024 ** 3));
    const old = await announce(1, { path: "bronze/x" }, { "tus-resumable": "0.2.2" });
    expect(old.status).toBe(412);
    expect(old.headers.get("tus-version")).toBe("1.0.0");
    const reader = { authorization: `Bearer ${tokens.reader}` };
    expect((await announce(1, { path: "bronze/x" }, reader)).status).toBe(403);
    const options = await fetch(`${test.baseUrl}/api/v1/uploads`, { method: "OPTIONS" });
    expect(options.headers.get("tus-extension")).toContain("checksum");
    expect(options.headers.get("allow")).toContain("POST");
  });

  it("can be given up, and is forgotten when it has expired", async () => {
    const given = await begin(5, { path: "bronze/given-up" });
    await send(given, 0, Buffer.from("ab"));
    expect((await fetch(given, { method: "DELETE", headers: tus })).status).toBe(204);
    expect((await fetch(given, { method: "HEAD", headers: tus })).status).toBe(404);
    const old = await begin(5, { path: "bronze/old" });
    await send(old, 0, Buffer.from("ab"));
    await test.database.db.query(
      `UPDATE dagapp.uploads SET expires_at = now() - interval '1 day' WHERE path = 'bronze/old'`,
    );
    const storage = createLocalStorage(test.engine.folder);
    const staging = createLocalStaging(test.engine.folder, storage);
    const errors: unknown[] = [];
    const deps = { db: test.database.db, storage, uploads: { staging, maxBytes: 1 } };
    await sweepUploads(deps, (error) => errors.push(error));
    expect((await fetch(old, { method: "HEAD", headers: tus })).status).toBe(404);
    const left = (await test.operator.listUploads()).items.map((each) => each.path);
    expect(left).not.toContain("bronze/old");
  });

  it("belongs to the platform that the gateway names, below its prefix", async () => {
    const names = { platform_id: "acme" };
    const body = { display_name: "Acme", required_refs: ["dataset_id"] };
    await test.operator.putPlatform({ params: names, body });
    const at = `${test.baseUrl}/api/v1/uploads?platform_id=acme`;
    const headers = { ...tus, "upload-length": "1" };
    const metadata = { "upload-metadata": writeMetadata({ path: "maps/a.tif" }) };
    const made = await fetch(at, { method: "POST", headers: { ...headers, ...metadata } });
    const { upload_id, path: placed } = (await made.json()) as { upload_id: string; path: string };
    expect(placed).toBe("bronze/acme/maps/a.tif");
    const others = `${test.baseUrl}/api/v1/uploads/${upload_id}?platform_id=other`;
    expect((await fetch(others, { headers: tus })).status).toBe(404);
    const climbing = { "upload-metadata": writeMetadata({ path: "../other/a.tif" }) };
    const refused = await fetch(at, { method: "POST", headers: { ...headers, ...climbing } });
    expect(refused.status).toBe(400);
  });
});

describe("the files of storage", () => {
  it("are browsed folder by folder, read, and deleted unless something was made of them", async () => {
    for (const name of ["b/1.txt", "b/2.txt", "b/deep/3.txt"]) {
      await test.storage.put(`gold/${name}`, Buffer.from(name));
    }
    const zones = await test.operator.browseStorage();
    expect(zones.folders).toEqual(["bronze/", "silver/", "gold/", "external/", "results/"]);
    const page = await test.operator.browseStorage({ query: { folder: "gold/b", limit: 2 } });
    expect(page).toMatchObject({
      folders: [],
      items: [{ path: "gold/b/1.txt" }, { path: "gold/b/2.txt" }],
    });
    const next = await test.operator.browseStorage({
      query: { folder: "gold/b", limit: 2, cursor: page.next_cursor ?? "" },
    });
    expect(next).toMatchObject({ folders: ["gold/b/deep/"], items: [], next_cursor: null });
    await expect(
      test.operator.browseStorage({ query: { folder: "gold/../x" } }),
    ).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
    expect(await test.operator.readFile({ params: { path: "gold/b/1.txt" } })).toBe("b/1.txt");
    await test.database.db.query(
      `SELECT dagapp.add_dataset_ref('file', 'gold/b/1.txt', 'file', 'silver/made.tif', 'made_into')`,
    );
    const used = { params: { path: "gold/b/1.txt" } };
    await expect(test.operator.deleteFile(used)).rejects.toMatchObject({ code: "FILE_IN_USE" });
    await test.operator.deleteFile({ ...used, query: { force: "true" } });
    await test.operator.deleteFile({ params: { path: "gold/b/2.txt" } });
    await expect(test.operator.deleteFile(used)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await filesIn("gold/b/")).toEqual([]);
  });

  it("are for operators: a reader or curator learns no name, no kind and no content", async () => {
    await test.storage.put("bronze/partner/secret.txt", Buffer.from("secret"));
    const path = "bronze/partner/secret.txt";
    for (const client of [test.reader, test.curator]) {
      for (const ask of [
        () => client.browseStorage(),
        () => client.browseStorage({ query: { folder: "bronze/partner" } }),
        () => client.recogniseFile({ query: { path } }),
        () => client.readFile({ params: { path } }),
        () => client.listUploads({ query: { path } }),
        () => client.listUnreferencedFiles({ query: { zone: "bronze" } }),
      ]) {
        await expect(ask()).rejects.toMatchObject({ code: "FORBIDDEN" });
      }
    }
  });

  it("are recognised by their content, and a workflow is suggested", async () => {
    const zip = packZip({ name: "roads/roads.shp" }, { name: "roads/roads.dbf" });
    await test.storage.put("bronze/r/Main roads (2024).zip", zip);
    const roads = await test.operator.recogniseFile({
      query: { path: "bronze/r/Main roads (2024).zip" },
    });
    expect(roads).toMatchObject({
      kind: "vector",
      format: "zipped Shapefile",
      workflow_id: "vector_etl",
      inputs: {
        container: "bronze",
        blob_path: "r/Main roads (2024).zip",
        table_name: "main_roads_2024",
      },
      details: { files: 2 },
    });
    await test.storage.put("bronze/r/notes.txt", Buffer.from("to do"));
    const notes = await test.operator.recogniseFile({ query: { path: "bronze/r/notes.txt" } });
    expect(notes).toMatchObject({ kind: "unknown", workflow_id: null });
    await expect(
      test.operator.recogniseFile({ query: { path: "bronze/r/none" } }),
    ).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("past the orchestrator", () => {
  const create = async (client: Client, length: number, metadata: Record<string, string>) =>
    client.createUpload({
      query: {},
      headers: { "upload-length": String(length), "upload-metadata": writeMetadata(metadata) },
    });

  it("is refused where storage is a folder", async () => {
    const { upload_id } = await create(test.operator, 3, { path: "bronze/direct/none.bin" });
    const request = { params: { upload_id }, query: {} };
    await expect(test.operator.signUpload(request)).rejects.toMatchObject({
      code: "SWITCHED_OFF",
    });
  });

  it("goes to Azure by a signed address, whole or in blocks, and is checked when it is there", async () => {
    const azurite = await startAzurite();
    const settings = azureSettings({
      AZURE_STORAGE_CONNECTION_STRING: connectTo(azurite.port),
      BRONZE_CONTAINER: "bronze",
      RESULTS_CONTAINER: "results",
    });
    const storage = await createAzureStorage(settings);
    const staging = await createAzureStaging(settings, storage);
    const api = await test.another({ storage, uploads: { staging, maxBytes: 1024 ** 3 } });
    const { url: baseUrl } = await api.server.listen({ host: "127.0.0.1", port: 0 });
    const client = createClient({ baseUrl, token: tokens.operator, fetch });
    try {
      const content = randomBytes(300_000);
      const metadata = { path: "bronze/direct/whole.bin", sha256: sha256(content) };
      const { upload_id } = await create(client, content.length, metadata);
      const request = { params: { upload_id }, query: {} };
      await expect(client.completeUpload(request)).rejects.toMatchObject({ code: "UPLOAD_OFFSET" });
      const { url, method, headers } = await client.signUpload(request);
      const put = async (address: string, body: Buffer<ArrayBuffer>) =>
        (await fetch(address, { method, headers, body })).status;
      expect(await put(url, content)).toBe(201);
      expect(await storage.head(metadata.path)).toBeUndefined();
      expect(await client.completeUpload(request)).toMatchObject({ received: content.length });
      expect(await client.completeUpload(request)).toMatchObject({ path: metadata.path });
      expect(sha256(await storage.get(metadata.path))).toBe(metadata.sha256);
      // The address opens that one upload and nothing else.
      const elsewhere = url.replace("results/.uploads", "bronze/direct");
      expect(await put(elsewhere, content)).toBe(403);

      const parts = [content.subarray(0, 200_000), content.subarray(200_000)];
      const damaged = { path: "bronze/direct/blocks.bin", sha256: sha256(parts[0]!) };
      const second = await create(client, content.length, damaged);
      const again = { params: { upload_id: second.upload_id }, query: {} };
      const target = (await client.signUpload(again)).url;
      let offset = 0;
      for (const part of parts) {
        const block = Buffer.from(String(offset).padStart(18, "0")).toString("base64");
        const address = `${target}&comp=block&blockid=${encodeURIComponent(block)}`;
        expect(await put(address, part)).toBe(201);
        offset += part.length;
      }
      await expect(client.completeUpload(again)).rejects.toMatchObject({
        code: "CHECKSUM_MISMATCH",
      });
      expect(await storage.head(damaged.path)).toBeUndefined();
    } finally {
      await api.close();
      await azurite.stop();
    }
  }, 90_000);
});

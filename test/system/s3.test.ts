/** The programs with their zones on S3, bronze on a server of its own: from an upload to a tile. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeMetadata } from "../../src/core/files/upload-headers.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { finished, Fleet, submit } from "../support/programs.ts";
import type { S3Server } from "../support/s3-server.ts";
import { startS3Server } from "../support/s3-server.ts";
import { s3Keys } from "../support/s3-signature.ts";

const workflows = path.resolve(import.meta.dirname, "../../workflows");
const raster = path.resolve(import.meta.dirname, "../fixtures/raster/dem_float32_epsg2056.tif");
let database: TestDatabase;
let fleet: Fleet;
let servers: S3Server[];
let env: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url, workflows);
  servers = [await startS3Server(), await startS3Server()];
  const [first = "", second = ""] = servers.map(({ url }) => url);
  env = {
    STORAGE_BACKEND: "s3",
    AWS_ENDPOINT_URL_S3: first,
    AWS_ACCESS_KEY_ID: s3Keys.id,
    AWS_SECRET_ACCESS_KEY: s3Keys.secret,
    BRONZE_AWS_ENDPOINT_URL_S3: second,
    BRONZE_CONTAINER: "company-uploads",
  };
});
afterAll(async () => {
  await fleet.stop();
  for (const server of servers) await server.stop();
  await database.drop();
});

it("takes an upload in parts, makes a layer of it and serves its file and its tiles", async () => {
  const orchestrator = await fleet.orchestrator(env);
  await fleet.worker(env);
  const content = await readFile(raster);
  const tus = { "tus-resumable": "1.0.0" };
  const announced = await fetch(`${orchestrator.url}/api/v1/uploads`, {
    method: "POST",
    headers: {
      ...tus,
      "upload-length": String(content.length),
      "upload-metadata": writeMetadata({ path: "bronze/a/dem 1.tif" }),
    },
  });
  expect(announced.status).toBe(201);
  const upload = new URL(announced.headers.get("location") ?? "", orchestrator.url);
  const half = Math.floor(content.length / 2);
  for (const [offset, body] of [
    [0, content.subarray(0, half)],
    [half, content.subarray(half)],
  ] as const) {
    const answer = await fetch(upload, {
      method: "PATCH",
      headers: {
        ...tus,
        "content-type": "application/offset+octet-stream",
        "upload-offset": String(offset),
      },
      body,
    });
    expect(answer.status).toBe(204);
  }
  const job = await submit(orchestrator, "raster_ingest", {
    blob_path: "bronze/a/dem 1.tif",
    collection_id: "c",
    item_id: "dem",
    datetime: "2024-05-01T10:00:00Z",
  });
  expect((await finished(orchestrator, job, 200_000)).status).toBe("completed");
  const { items } = await orchestrator.client.browseStorage({ query: { folder: "bronze/a" } });
  expect(items).toMatchObject([{ path: "bronze/a/dem 1.tif", bytes: content.length }]);
  const stored = await fetch(`${orchestrator.url}/api/v1/storage/bronze/a/dem%201.tif`);
  expect(content.equals(Buffer.from(await stored.arrayBuffer()))).toBe(true);
  const item = (await (await fetch(`${orchestrator.url}/stac/collections/c/items/dem`)).json()) as {
    assets: Record<string, { href: string }>;
  };
  const [first] = Object.values(item.assets);
  const cog = await fetch(new URL(first!.href, orchestrator.url), {
    headers: { range: "bytes=0-3" },
  });
  expect([200, 206]).toContain(cog.status);
  expect(
    Buffer.from(await cog.arrayBuffer())
      .subarray(0, 2)
      .toString(),
  ).toMatch(/II|MM/);
}, 300_000);

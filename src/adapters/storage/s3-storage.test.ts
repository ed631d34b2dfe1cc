import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { z } from "zod";
import { describeStorage } from "../../../test/conformance/storage.ts";
import { startS3Server } from "../../../test/support/s3-server.ts";
import { s3Keys } from "../../../test/support/s3-signature.ts";
import { startFailure } from "../runtime/start-failure.ts";
import type { S3Settings } from "./s3-client.ts";
import { openS3 } from "./s3-client.ts";
import { copyInParts } from "./s3-copy.ts";
import { createS3Staging } from "./s3-staging.ts";
import { createS3Storage } from "./s3-storage.ts";
import { namesItsAccount, storageEnvironment, toStorageSettings } from "./settings.ts";
import { zones } from "./storage.ts";

const environment = z.object(storageEnvironment).refine(...namesItsAccount);

function settingsFor(env: Readonly<Record<string, string>>): S3Settings {
  const settings = toStorageSettings(environment.parse({ STORAGE_BACKEND: "s3", ...env }), "/none");
  if (settings.backend !== "s3") throw new Error("not S3");
  return settings;
}

/** `TEST_S3_URL=http://host:port`, with the keys of that server, runs these tests on a real one. */
const given = process.env["TEST_S3_URL"];
const keys = {
  id: process.env["TEST_S3_KEY_ID"] ?? s3Keys.id,
  secret: process.env["TEST_S3_SECRET"] ?? s3Keys.secret,
};
const zoneKeys = Object.fromEntries(
  zones.flatMap((zone) => [
    [`${zone.toUpperCase()}_AWS_ACCESS_KEY_ID`, keys.id],
    [`${zone.toUpperCase()}_AWS_SECRET_ACCESS_KEY`, keys.secret],
  ]),
);

/** Bronze has a server, or at least an address, of its own. */
async function startServers() {
  const servers = given === undefined ? [await startS3Server(), await startS3Server()] : [];
  const [first = given ?? "", second = first] = servers.map(({ url }) => url);
  const settings = settingsFor({
    ...zoneKeys,
    AWS_ENDPOINT_URL_S3: first,
    BRONZE_AWS_ENDPOINT_URL_S3: second.replace("127.0.0.1", "localhost"),
    SILVER_CONTAINER: "rasters.example",
  });
  const stop = async () => {
    for (const server of servers) await server.stop();
  };
  return { servers, settings, stop };
}

describeStorage("S3 with a server of its own for a zone", async () => {
  const { settings, stop } = await startServers();
  const storage = await createS3Storage(settings);
  return {
    storage,
    staging: await createS3Staging(settings, storage),
    fetchSigned: async (url) => {
      const response = await fetch(url);
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, bytes: response.ok ? bytes : Buffer.alloc(0) };
    },
    close: stop,
  };
});

it("copies between servers and in parts, and lets an address put one object", async () => {
  const { servers, settings, stop } = await startServers();
  try {
    const storage = await createS3Storage(settings);
    const put = await storage.signedUrl("silver/put #1.bin", { method: "PUT" });
    expect((await fetch(put, { method: "PUT", body: "from outside" })).status).toBe(200);
    const copied = await storage.copy("silver/put #1.bin", "bronze/copied.bin");
    expect(copied).toMatchObject({ path: "bronze/copied.bin", bytes: 12 });
    await storage.copy("silver/put #1.bin", "gold/same server.bin");
    for (const path of ["bronze/copied.bin", "gold/same server.bin"]) {
      expect(Buffer.from(await storage.get(path)).toString()).toBe("from outside");
    }
    const read = await storage.signedUrl("silver/put #1.bin");
    expect((await fetch(read, { method: "PUT", body: "x" })).status).toBe(403);
    const [address = ""] = read.split("?");
    expect((await fetch(address)).status).toBe(403);

    const content = randomBytes(6 * 1024 * 1024);
    await storage.put("silver/large.bin", content);
    const { silver, gold } = await openS3(settings);
    const at = { Bucket: silver.bucket, Key: "large.bin" };
    const to = { Bucket: gold.bucket, Key: "large.bin" };
    await copyInParts(gold.client, at, to, content.length, 5 * 1024 * 1024);
    expect(content.equals(await storage.get("gold/large.bin"))).toBe(true);
    const tooSmall = copyInParts(gold.client, at, to, content.length, 1024 * 1024);
    await expect(tooSmall).rejects.toMatchObject({ name: "EntityTooSmall" });
    for (const server of servers) expect(server.openUploads()).toBe(0);
  } finally {
    await stop();
  }
});

it("gives each zone its own server, identity and bucket, and the rest to all", () => {
  const { places } = settingsFor({
    AWS_REGION: "eu-central-1",
    SILVER_AWS_PROFILE: "silver",
    SILVER_CONTAINER: "company-silver",
    GOLD_AWS_ENDPOINT_URL_S3: "https://minio.example:9000",
  });
  expect(places.bronze).toMatchObject({ region: "eu-central-1", pathStyle: false });
  expect(places.silver).toMatchObject({ bucket: "company-silver", profile: "silver" });
  expect(places.gold).toMatchObject({ endpoint: "https://minio.example:9000", pathStyle: true });
  expect(() => settingsFor({})).toThrow(/AWS_REGION/);
  expect(() => settingsFor({ BRONZE_AWS_REGION: "eu-central-1" })).toThrow(/every zone/);
});

it("says which bucket of which server a program cannot start without", async () => {
  const server = await startS3Server();
  await server.stop();
  const settings = settingsFor({ ...zoneKeys, AWS_ENDPOINT_URL_S3: server.url });
  const failure: unknown = await openS3(settings).catch((error: unknown) => error);
  expect(startFailure(failure)).toMatch(
    /^Storage cannot be used: the bucket \w+ of http:\S+: .*ECONNREFUSED.*docs\/storage\.md/,
  );
});

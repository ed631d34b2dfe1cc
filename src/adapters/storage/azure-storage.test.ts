import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { describeStorage } from "../../../test/conformance/storage.ts";
import {
  account,
  azureSettings,
  connectTo,
  otherAccount,
  otherKey,
  startAzurite,
} from "../../../test/support/azurite.ts";
import { createAzureStaging } from "./azure-staging.ts";
import { createAzureStorage } from "./azure-storage.ts";

const run = promisify(execFile);
const hasOpenssl = await run("openssl", ["version"]).then(
  () => true,
  () => false,
);

describeStorage("Azure Blob Storage with two accounts and their keys", async () => {
  const emulator = await startAzurite([]);
  // Both accounts have a container of the same name.
  const settings = azureSettings({
    AZURE_STORAGE_CONNECTION_STRING: connectTo(emulator.port),
    BRONZE_AZURE_STORAGE_CONNECTION_STRING: connectTo(emulator.port, otherAccount, otherKey),
    BRONZE_CONTAINER: "files",
    SILVER_CONTAINER: "files",
  });
  const storage = await createAzureStorage(settings);
  return {
    storage,
    staging: await createAzureStaging(settings, storage),
    fetchSigned: async (url) => {
      const response = await fetch(url);
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, bytes: response.ok ? bytes : Buffer.alloc(0) };
    },
    close: () => emulator.stop(),
  };
});

describe.skipIf(!hasOpenssl)("with an identity and no key (needs openssl)", () => {
  let emulator: Awaited<ReturnType<typeof startAzurite>> | undefined;
  let folder: string | undefined;
  afterAll(async () => {
    await emulator?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it("signs with a key that is lent for a while", async () => {
    folder = await mkdtemp(path.join(tmpdir(), "rmhdag-certificate-"));
    const [cert, certKey] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
    await run("openssl", [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"],
      ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certKey, "-out", cert],
    ]);
    emulator = await startAzurite(["--oauth", "basic", "--cert", cert, "--key", certKey]);
    // Only in this process, and only for this certificate, which is self-signed.
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const url = `https://127.0.0.1:${emulator.port}/${account}`;
      const credential = {
        getToken: async () => ({ token: token(), expiresOnTimestamp: inAnHour() }),
      };
      const place = { container: "files", endpoint: { url, credential } };
      const storage = await createAzureStorage({
        places: { bronze: place, silver: place, gold: place, external: place, results: place },
      });
      await storage.put("silver/a.tif", Buffer.from("content"));
      const signed = await storage.signedUrl("silver/a.tif");
      expect(signed).toContain("skoid=");
      expect(new URL(signed).searchParams.get("sp")).toBe("r");
      expect(await get(signed)).toEqual({ status: 200, text: "content" });
      expect((await get(signed.replace("a.tif", "b.tif"))).status).toBe(403);
      expect(await storage.localPath("silver/a.tif")).toBeUndefined();
    } finally {
      delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    }
  });
});

const inAnHour = () => Date.now() + 3_600_000;

/** The emulator reads who it is from, and until when, and does not check the signature. */
function token(): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    aud: "https://storage.azure.com",
    iss: "https://sts.windows.net/tenant/",
    iat: now - 60,
    nbf: now - 60,
    exp: now + 3600,
    oid: "someone",
    tid: "tenant",
  };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claims)}.c2lnbmF0dXJl`;
}

async function get(url: string): Promise<{ status: number | undefined; text: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, resolve).on("error", reject).end();
  });
  const text = (await buffer(response)).toString();
  return { status: response.statusCode, text };
}

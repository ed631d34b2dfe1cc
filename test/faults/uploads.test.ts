/**
 * Uploads to the real programs: through the gateway, to an orchestrator that is killed at every step, and a
 * disk that is full. What was confirmed is kept, and no half file is ever listed.
 */
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Upload } from "tus-js-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uploadFailPoints } from "../../src/adapters/runtime/fail-points.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Orchestrator } from "../support/programs.ts";
import { freePort } from "../support/free-port.ts";
import { Fleet } from "../support/programs.ts";

let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;
let gatewayUrl: string;
let key: string;
const port = await freePort();
const env = { ORCHESTRATOR_PORT: String(port) };

beforeAll(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url);
  orchestrator = await fleet.orchestrator(env);
  ({ url: gatewayUrl } = await fleet.gateway(orchestrator));
  const { client } = orchestrator;
  await client.putPlatform({
    params: { platform_id: "acme" },
    body: { display_name: "Acme", required_refs: ["dataset_id"] },
  });
  const scopes = ["submit" as const];
  ({ key } = await client.createKey({ body: { platform_id: "acme", name: "put", scopes } }));
});
afterAll(async () => {
  await fleet.stop();
  await database.drop();
});

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Uploads with the protocol's own client, which repeats and resumes by itself. */
async function put(
  content: Buffer,
  metadata: Record<string, string>,
  chunkSize: number,
  endpoint = `${orchestrator.url}/api/v1/uploads`,
) {
  const offsets: number[] = [];
  await new Promise<void>((resolve, reject) => {
    new Upload(content, {
      endpoint,
      headers: endpoint.startsWith(gatewayUrl) ? { authorization: `Bearer ${key}` } : {},
      chunkSize,
      metadata: { sha256: sha256(content), ...metadata },
      retryDelays: Array.from({ length: 100 }, () => 100),
      onChunkComplete: (_size, accepted) => offsets.push(accepted),
      onError: reject,
      onSuccess: () => {
        resolve();
      },
    }).start();
  });
  return offsets;
}

async function listed(): Promise<readonly { path: string; bytes: number }[]> {
  const query = { folder: "bronze/acme/" };
  return (await orchestrator.client.browseStorage({ query })).items;
}

it("streams a partner's upload through the gateway, into the partner's folder", async () => {
  const content = randomBytes(3 * 1024 ** 2);
  const offsets = await put(
    content,
    { filename: "partner.bin" },
    2 * 1024 ** 2,
    `${gatewayUrl}/api/platform/uploads`,
  );
  expect(offsets).toEqual([2 * 1024 ** 2, 3 * 1024 ** 2]);
  expect(await listed()).toMatchObject([
    { path: "bronze/acme/partner.bin", bytes: content.length },
  ]);
  const headers = { authorization: `Bearer ${key}` };
  const mine = await fetch(`${gatewayUrl}/api/platform/uploads?path=bronze/acme/partner.bin`, {
    headers,
  });
  const { items } = (await mine.json()) as { items: Record<string, unknown>[] };
  expect(items).toMatchObject([{ received: content.length }]);
  expect(items[0]).not.toHaveProperty("created_by");
  const none = `${gatewayUrl}/api/platform/uploads/${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}`;
  const missing = await fetch(none, { method: "HEAD", headers });
  expect(missing.status).toBe(404);
});

/** Sent through the gateway; the others go to the orchestrator itself. */
const throughGateway: readonly string[] = ["upload.part_confirmed", "upload.published"];

describe("an orchestrator that is killed", () => {
  it.each(uploadFailPoints)("at %s loses nothing, and the upload ends whole", async (name) => {
    // More than what is saved in the middle of a part.
    const content = randomBytes(name === "upload.part_saved" ? 12 * 1024 ** 2 : 2 * 1024 ** 2);
    const chunkSize = name === "upload.part_saved" ? content.length : 1024 ** 2;
    orchestrator.signal("SIGTERM");
    await orchestrator.gone;
    orchestrator = await fleet.orchestrator({ ...env, RMHDAG_FAIL_POINT: name });
    const killed = orchestrator.gone.then(async () => {
      orchestrator = await fleet.orchestrator(env);
      const halves = (await listed()).filter((file) => file.path.endsWith(`${name}.bin`));
      expect(halves.every(({ bytes }) => bytes === content.length)).toBe(true);
    });
    await put(
      content,
      { path: `bronze/acme/${name}.bin` },
      chunkSize,
      throughGateway.includes(name) ? `${gatewayUrl}/api/platform/uploads` : undefined,
    );
    await killed;
    const file = (await listed()).find((each) => each.path === `bronze/acme/${name}.bin`);
    expect(file?.bytes).toBe(content.length);
    const stored = await fetch(`${orchestrator.url}/api/v1/storage/bronze/acme/${name}.bin`);
    expect(sha256(new Uint8Array(await stored.arrayBuffer()))).toBe(sha256(content));
  });
});

const canMount = (() => {
  try {
    execFileSync("unshare", ["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!canMount)("a disk that is full (needs unshare)", () => {
  it("refuses the part, keeps what was confirmed, and ends the upload when there is room", async () => {
    orchestrator.signal("SIGTERM");
    await orchestrator.gone;
    const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-full-"));
    orchestrator = await fleet.orchestrator({ ...env, RMHDAG_DATA_DIR: folder }, [
      "unshare",
      "-Urm",
      "sh",
      "-c",
      `mount -t tmpfs -o size=12m none ${folder} && exec "$0" "$@"`,
    ]);
    try {
      const filler = randomBytes(6 * 1024 ** 2);
      await put(filler, { path: "bronze/acme/filler.bin" }, filler.length);
      const content = randomBytes(8 * 1024 ** 2);
      const uploading = put(content, { path: "bronze/acme/late.bin" }, 1024 ** 2);
      uploading.catch(() => undefined);
      const { client } = orchestrator;
      // Full when the same number of bytes is confirmed three times in a row.
      let [confirmed, same] = [0, 0];
      while (same < 3) {
        await pause(150);
        const received = (await client.listUploads({ query: {} })).items[0]?.received ?? 0;
        same = received > 0 && received === confirmed ? same + 1 : 0;
        confirmed = received;
      }
      expect(confirmed).toBeGreaterThan(3 * 1024 ** 2);
      expect(confirmed).toBeLessThan(content.length);
      expect((await listed()).map((file) => file.path)).toEqual(["bronze/acme/filler.bin"]);
      await client.deleteFile({ params: { path: "bronze/acme/filler.bin" } });
      const offsets = await uploading;
      expect(offsets.at(-1)).toBe(content.length);
      const stored = await fetch(`${orchestrator.url}/api/v1/storage/bronze/acme/late.bin`);
      expect(sha256(new Uint8Array(await stored.arrayBuffer()))).toBe(sha256(content));
    } finally {
      orchestrator.signal("SIGKILL");
      await orchestrator.gone;
      await rm(folder, { recursive: true, force: true });
    }
  });
});

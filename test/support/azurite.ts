import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import type { AzureSettings } from "../../src/adapters/storage/azure-client.ts";
import { storageEnvironment, toStorageSettings } from "../../src/adapters/storage/settings.ts";
import { waitFor } from "./wait.ts";

/** The emulator's well-known account. */
export const account = "devstoreaccount1";
const key =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/** Another account of the same emulator. */
export const otherAccount = "rawuploads";
export const otherKey = Buffer.from("another key").toString("base64");

export const connectTo = (port: number, name = account, secret = key) =>
  `DefaultEndpointsProtocol=http;AccountName=${name};AccountKey=${secret};` +
  `BlobEndpoint=http://127.0.0.1:${port}/${name};`;

/** The settings of a program that has these variables. */
export function azureSettings(env: Readonly<Record<string, string>>): AzureSettings {
  const given = z.object(storageEnvironment).parse({ STORAGE_BACKEND: "azure", ...env });
  const settings = toStorageSettings(given, "/nowhere");
  if (settings.backend !== "azure") throw new Error("not Azure");
  return settings;
}

/** Azurite, Microsoft's emulator of Blob Storage, with more arguments. */
export async function startAzurite(
  args: readonly string[] = [],
): Promise<{ port: number; stop(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-azurite-"));
  const require = createRequire(import.meta.url);
  const program = path.join(
    path.dirname(require.resolve("azurite/package.json")),
    "dist/src/blob/main.js",
  );
  const child: ChildProcess = spawn(
    process.execPath,
    [program, "--location", folder, "--blobPort", "0", "--disableTelemetry", ...args],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        AZURITE_ACCOUNTS: `${account}:${key};${otherAccount}:${otherKey}`,
      },
    },
  );
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const port = await waitFor(() => /listens on https?:\/\/127\.0\.0\.1:(\d+)/i.exec(output)?.[1], {
    what: "the emulator",
    timeoutMs: 30_000,
  });
  return {
    port: Number(port),
    stop: async () => {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

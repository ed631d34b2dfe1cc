/**
 * What a local `up` leaves in its data folder for the other commands: where it is, and the token
 * that opens it. All are for their owner's eyes only.
 */
import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasErrorCode } from "../../adapters/runtime/error-code.ts";
import { Failure } from "../failure.ts";

export interface LocalFiles {
  readonly cliToken: string;
  readonly serviceToken: string;
  /** What the gateway shows to the orchestrator, and what it shows to the database. */
  readonly gatewayToken: string;
  readonly gatewayPassword: string;
  /** What the secrets of callbacks are derived from: as long as it stays, so do they. */
  readonly callbackKey: string;
  readonly url: string;
}

export function localFiles(dataFolder: string): LocalFiles {
  const file = (name: string): string => path.join(dataFolder, name);
  return {
    cliToken: file("cli-token"),
    serviceToken: file("service-token"),
    gatewayToken: file("gateway-token"),
    gatewayPassword: file("gateway-password"),
    callbackKey: file("callback-key"),
    url: file("url"),
  };
}

/**
 * Made on first use: written whole beside its place and linked there, so that of two that make it at
 * once one wins, both read the same, and nobody reads half of it.
 */
export async function readOrMakeToken(file: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}-${randomBytes(6).toString("hex")}`;
  await writeFile(draft, `rmhdag_${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
  try {
    await link(draft, file);
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const token = (await readFile(file, "utf8")).trim();
  if (/^\S{16,512}$/.test(token)) return token;
  throw new Failure(`${file} does not hold a token: remove it, and a new one is made.`);
}

export async function announceUrl(file: string, url: string): Promise<void> {
  await writeFile(file, `${url}\n`, { mode: 0o600 });
}

/** Another `up` on the same folder may have written its own meanwhile. */
export async function withdrawUrl(file: string, url: string): Promise<void> {
  const written = await readFile(file, "utf8").catch(() => "");
  if (written.trim() === url) await rm(file, { force: true });
}

/**
 * The files that a local `up` writes to its data folder: its URL and token for the other commands,
 * and the secrets of its programs. Only the owner can read them.
 */
import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasErrorCode } from "../../adapters/runtime/error-code.ts";
import { Failure } from "../common/failure.ts";

export interface LocalFiles {
  readonly cliToken: string;
  readonly serviceToken: string;
  /** The gateway's token for the orchestrator, and its password for the database. */
  readonly gatewayToken: string;
  readonly gatewayPassword: string;
  /** The secrets that sign callbacks are derived from this key, and change with it. */
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
 * Reads a token, and makes it on first use. A new token is written to a draft and then linked to
 * its name: of two processes that make it at once one succeeds, both read the same token, and no
 * process reads half of it.
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
  throw new Failure(`${file} does not hold a token: remove the file, and a new token is made.`);
}

export async function announceUrl(file: string, url: string): Promise<void> {
  await writeFile(file, `${url}\n`, { mode: 0o600 });
}

/** Removes the URL, unless another `up` on the same folder has written its own in the meantime. */
export async function withdrawUrl(file: string, url: string): Promise<void> {
  const written = await readFile(file, "utf8").catch(() => "");
  if (written.trim() === url) await rm(file, { force: true });
}

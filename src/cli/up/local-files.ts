/**
 * The files that a local `up` writes to its data folder: its URL and token for the other commands,
 * and the secrets of its programs. Only the owner can read them.
 */
import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasErrorCode } from "../../adapters/runtime/error-code.ts";
import { Failure } from "../common/failure.ts";
import { makeFolder } from "../../adapters/runtime/make-folder.ts";

export interface LocalFiles {
  readonly cliToken: string;
  readonly serviceToken: string;
  /** The gateway's token for the orchestrator. */
  readonly gatewayToken: string;
  /** Passwords of the programs' database users. */
  readonly orchestratorPassword: string;
  readonly workerPassword: string;
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
    orchestratorPassword: file("orchestrator-password"),
    workerPassword: file("worker-password"),
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
  await makeFolder(path.dirname(file), 0o700);
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

/**
 * Writes the URL behind those of other `up`s on the same folder that still answer. Commands use the
 * first line.
 */
export async function announceUrl(
  file: string,
  url: string,
  isAlive: (url: string) => Promise<boolean> = answers,
): Promise<void> {
  const others = (await readUrls(file)).filter((other) => other !== url);
  const alive = await Promise.all(others.map(isAlive));
  await writeUrls(file, [...others.filter((_, index) => alive[index]), url]);
}

/** Removes the URL; those of other `up`s on the same folder stay. */
export async function withdrawUrl(file: string, url: string): Promise<void> {
  await writeUrls(
    file,
    (await readUrls(file)).filter((other) => other !== url),
  );
}

async function readUrls(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

async function writeUrls(file: string, urls: readonly string[]): Promise<void> {
  if (urls.length === 0) await rm(file, { force: true });
  else await writeFile(file, urls.map((url) => `${url}\n`).join(""), { mode: 0o600 });
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(2000) }).catch(
    () => undefined,
  );
  return answer?.ok === true;
}

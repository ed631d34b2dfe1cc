import { readFileSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import type { Client } from "../../core/api/client.ts";
import { createClient } from "../../core/api/client.ts";
import type { CliConfig } from "../common/config.ts";
import { UsageError } from "../common/failure.ts";
import { localFiles } from "../up/local-files.ts";

const defaultUrl = "http://127.0.0.1:8000";

interface GlobalOptions {
  readonly url?: string;
  readonly token?: string;
  readonly dataDir?: string;
}

/** Makes the API client of a command from --url, --token and --data-dir, wherever they stand. */
export function connect(command: Command, config: CliConfig): Client {
  return openConnection(command, config).client;
}

/** The same with its address and token, for requests that are not JSON. */
export function openConnection(command: Command, config: CliConfig) {
  const given = command.optsWithGlobals<GlobalOptions>();
  const files = localFiles(given.dataDir ?? config.dataFolder);
  const baseUrl = urlOf(command, config);
  const token = given.token ?? config.token ?? localToken(baseUrl, files.cliToken);
  return { client: createClient({ baseUrl, token, fetch }), baseUrl, token };
}

/** The address of the orchestrator: of --url, of the environment, or of a local `up`. */
export function urlOf(command: Command, config: CliConfig): string {
  const { url, dataDir } = command.optsWithGlobals<GlobalOptions>();
  const announced = localFiles(dataDir ?? config.dataFolder).url;
  const baseUrl = url ?? config.url ?? readLine(announced) ?? defaultUrl;
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) return baseUrl;
  throw new UsageError(`"${baseUrl}" is not a URL such as ${defaultUrl}.`);
}

export function dataFolder(command: Command, config: CliConfig): string {
  return path.resolve(command.optsWithGlobals<GlobalOptions>().dataDir ?? config.dataFolder);
}

/** Reads the token of a local `up`, which is sent to this machine only, not to another --url. */
function localToken(baseUrl: string, file: string): string | undefined {
  return isThisMachine(baseUrl) ? readLine(file) : undefined;
}

export function isThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

function readLine(file: string): string | undefined {
  try {
    const [line = ""] = readFileSync(file, "utf8").trim().split("\n");
    return line === "" ? undefined : line;
  } catch {
    return undefined;
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";

/** Folders that a test makes and its end removes. */
export function temporaryFolders() {
  const made: string[] = [];
  async function make(): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-embedded-"));
    made.push(folder);
    return folder;
  }
  return {
    make,
    /** Makes a folder with these files, such as workflows. */
    async makeWith(files: Readonly<Record<string, string>>): Promise<string> {
      const folder = await make();
      for (const [name, text] of Object.entries(files)) {
        await writeFile(path.join(folder, name), text);
      }
      return folder;
    },
    async remove(): Promise<void> {
      for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One statement on a connection of its own. */
export async function rows(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(text);
    return result.rows;
  } finally {
    await client.end();
  }
}

export interface OwnerProcess {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  readonly attached: boolean;
  readonly source: string;
  /** Stops the server as a program does that ends well, and waits for the process. */
  stop(): Promise<void>;
  /** What `kill -9` does. */
  kill(): Promise<void>;
  /** Ends without a word to the server. */
  leave(): Promise<void>;
}

export interface OwnerOptions {
  readonly uid?: number;
  readonly options?: object;
  /** A change of the capability bounding set, as setpriv writes it. */
  readonly capabilities?: string;
}

const launcher = new URL(
  "../../dist/adapters/embedded-postgres/start-embedded-postgres.js",
  import.meta.url,
).href;

const program = `
  const { startEmbeddedPostgres } = await import(process.argv[1]);
  const server = await startEmbeddedPostgres(JSON.parse(process.argv[2]));
  const { url, port, attached, source } = server;
  process.stdout.write(JSON.stringify({ url, port, attached, source }) + "\\n");
  process.stdin.once("data", async (word) => {
    if (String(word) === "stop") await server.stop();
    process.stdin.destroy();
  });
`;

/** Owns a server from a process of its own, as another user if need be. */
export async function startOwner(
  dataDirectory: string,
  { uid, options, capabilities }: OwnerOptions = {},
): Promise<OwnerProcess> {
  // Without sync a killed process loses nothing either, only a machine that loses its power.
  const parameters = JSON.stringify({ dataDirectory, prefer: "npm", sync: false, ...options });
  const node = [process.execPath, "--input-type=module", "-e", program, launcher, parameters];
  const [command = "", ...rest] =
    capabilities === undefined ? node : ["setpriv", `--bounding-set=${capabilities}`, ...node];
  const child = spawn(command, rest, {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    // No HOME and no USER: that is how a container starts a uid without a name.
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(() => undefined);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const line = await Promise.race([
    once(child.stdout.setEncoding("utf8"), "data").then(([text]) => text as string),
    once(child, "close").then(() => {
      throw new Error(`The owner ended: ${errors}`);
    }),
  ]);
  const say = (word: string) => {
    child.stdin.write(word);
    return ended;
  };
  return {
    ...(JSON.parse(line) as Pick<OwnerProcess, "url" | "port" | "attached" | "source">),
    pid: child.pid!,
    stop: () => say("stop"),
    leave: () => say("leave"),
    kill: () => {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

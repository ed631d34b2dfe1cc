/** Starts containers of the images, as their files say: user, environment and command. */
import { spawn } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import type { ImageName } from "./build-images.ts";
import { images, run } from "./build-images.ts";
import { waitFor } from "../support/wait.ts";

/** The variable by which the processes of a container are found from outside. */
const mark = "RMHDAG_TEST_CONTAINER";

/** Not /data: buildah mounts a volume of its own there, because the images declare one. */
const dataFolder = "/platform";

export interface Container {
  readonly name: string;
  output(): string;
  /** Asks the program to stop, as a container engine does, and answers its exit status. */
  stop(): Promise<number | null>;
  remove(): Promise<void>;
}

interface ImageConfig {
  readonly User: string;
  readonly Cmd: readonly string[];
  readonly Entrypoint: readonly string[] | null;
  readonly Env: readonly string[];
  readonly Healthcheck?: { readonly Test: readonly string[] };
}

export async function configOf(image: ImageName): Promise<ImageConfig> {
  const text = await run("buildah", "inspect", "--type", "image", images[image]);
  return (JSON.parse(text) as { Docker: { config: ImageConfig } }).Docker.config;
}

export async function startContainer(
  image: ImageName,
  env: Record<string, string>,
  data: string,
): Promise<Container> {
  const name = await run("buildah", "from", images[image]);
  const { Cmd, Entrypoint } = await configOf(image);
  const variables = Object.entries({ ...env, RMHDAG_DATA_DIR: dataFolder, [mark]: name }).flatMap(
    ([key, value]) => ["--env", `${key}=${value}`],
  );
  const child = spawn(
    "buildah",
    // prettier-ignore
    ["run", "--isolation", "oci", "--runtime", "runc", "--network", "host", "--cap-drop", "all", "--volume", `${data}:${dataFolder}`, ...variables,
      name, "--", ...(Entrypoint ?? []), ...Cmd],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  }
  const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await waitFor(() => text.includes(`${image} started`), {
    timeoutMs: 60_000,
    what: `the line "${image} started"`,
  }).catch((cause: unknown) => {
    child.kill("SIGKILL");
    throw new Error(`${image} did not start:\n${text}`, { cause });
  });
  return {
    name,
    output: () => text,
    stop: async () => {
      process.kill(await programOf(name), "SIGTERM");
      return gone;
    },
    remove: async () => {
      const pid = await programOf(name).catch(() => undefined);
      if (pid === undefined) child.kill("SIGKILL");
      else process.kill(pid, "SIGKILL");
      await gone;
      await run("buildah", "rm", name);
    },
  };
}

/** The first process of the container, which an engine would signal: it has our variable. */
async function programOf(name: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const inside: number[] = [];
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const isProgram = /^(?:[^\0]*tini|[^\0]*node)\0/.test(command);
    if (isProgram && environment.split("\0").includes(`${mark}=${name}`)) inside.push(pid);
  }
  if (inside.length === 0) throw new Error("the container's program is gone");
  return Math.min(...inside);
}

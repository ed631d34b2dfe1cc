import { randomUUID } from "node:crypto";
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { PermanentError } from "../errors.ts";
import type { ProgramFile } from "./load-program.ts";

export interface ProgramCommand {
  readonly file: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  /** The container outlives its client, so it has to be ended by its name. */
  readonly container?: { readonly engine: string; readonly name: string };
}

/**
 * How a program is started: by itself, under `prlimit` where its memory is limited, or in a container
 * with docker or podman. The work folder has the same path inside, so that parameters mean the same.
 */
export async function commandOf(
  { command, image, max_memory_mb }: ProgramFile,
  folder: string,
  workDir: string,
  env: Record<string, string>,
): Promise<ProgramCommand> {
  const [file = "", ...args] = command;
  if (image === undefined) {
    if (findProgram(file, env["PATH"], folder) === undefined) {
      throw new PermanentError(
        `The program cannot be started: ${file} is not there, or may not be executed.`,
        { code: "PROGRAM_NOT_STARTED" },
      );
    }
    const limit = max_memory_mb === undefined ? undefined : findProgram("prlimit", env["PATH"]);
    if (limit === undefined) return { file, args, env };
    return {
      file: limit,
      args: [`--as=${(max_memory_mb ?? 0) * 1024 * 1024}`, file, ...args],
      env,
    };
  }
  const engine = findProgram("docker", env["PATH"]) ?? findProgram("podman", env["PATH"]);
  if (engine === undefined) {
    throw new PermanentError(
      `The handler runs in the image ${image}, and this worker has neither docker nor podman: ` +
        "install one of them, or remove `image`.",
      { code: "NO_CONTAINER_ENGINE" },
    );
  }
  const name = `rmhdag-${randomUUID()}`;
  const passed = Object.keys(env).filter((name) => name !== "PATH" && name !== "HOME");
  return {
    file: engine,
    args: [
      "run",
      "--rm",
      "--interactive",
      "--init",
      "--network=none",
      `--name=${name}`,
      ...(max_memory_mb === undefined ? [] : [`--memory=${max_memory_mb}m`]),
      ...passed.flatMap((name) => ["--env", name]),
      "--volume",
      `${workDir}:${workDir}`,
      "--volume",
      `${folder}:${folder}:ro`,
      "--workdir",
      folder,
      image,
      file,
      ...args,
    ],
    env,
    container: { engine, name },
  };
}

/** Looks where the system looks: a name with a slash is a path, from the folder in which it runs. */
function findProgram(
  name: string,
  searched = "/usr/bin:/bin",
  workingFolder = "/",
): string | undefined {
  const folders = name.includes("/") ? [workingFolder] : searched.split(path.delimiter);
  for (const folder of folders) {
    const file = path.resolve(workingFolder, folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not there.
    }
  }
  return undefined;
}

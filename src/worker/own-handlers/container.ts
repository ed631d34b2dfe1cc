import { accessSync, constants } from "node:fs";
import path from "node:path";
import { PermanentError } from "../errors.ts";
import type { ProgramFile } from "./load-program.ts";

export interface ProgramCommand {
  readonly file: string;
  readonly args: string[];
  readonly env: Record<string, string>;
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
  const passed = Object.keys(env).filter((name) => name !== "PATH" && name !== "HOME");
  return {
    file: engine,
    args: [
      "run",
      "--rm",
      "--interactive",
      "--init",
      "--network=none",
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
  };
}

function findProgram(name: string, searched = ""): string | undefined {
  for (const folder of searched.split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not there.
    }
  }
  return undefined;
}

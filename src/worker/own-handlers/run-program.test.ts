import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { TestContext } from "../../../test/support/handler-context.ts";
import { createTestContext, noGdal } from "../../../test/support/handler-context.ts";
import { processesIn } from "../../../test/support/processes-in.ts";
import { waitFor } from "../../../test/support/wait.ts";
import type { HandlerContext } from "../define-handler.ts";
import { loadProgram } from "./load-program.ts";

describe("a program as a handler", () => {
  let test: TestContext;
  let handlers: string;
  beforeEach(async () => {
    test = await createTestContext({ gdal: noGdal });
    handlers = path.join(test.folder, "handlers");
    await mkdir(handlers);
  });
  afterEach(() => test.dispose());

  /** Describes a program in YAML and runs it. */
  async function run(
    file: object,
    params: object = {},
    context: Partial<HandlerContext> = {},
  ): Promise<unknown> {
    const place = path.join(handlers, "it.yaml");
    await writeFile(place, stringify({ name: "acme.it", ...file }));
    const handler = await loadProgram(place);
    return handler.run(params, { ...test.context, environment: process.env, ...context });
  }

  const sh = (script: string) => ["sh", "-c", script];

  it("gets parameters, speaks in lines, and answers by its last line or its file", async () => {
    const script = `read given; echo "::progress 40 half"; echo "::log warn careful"
      echo '::checkpoint {"at":3}'; echo 'noise'; echo "{\\"stdin\\":$given,\\"env\\":$RMHDAG_PARAMS}"`;
    expect(await run({ command: sh(script) }, { n: 1 })).toEqual({
      stdin: { n: 1 },
      env: { n: 1 },
    });
    expect(test.progress).toEqual([40]);
    expect(test.logged).toContain("careful");
    expect(test.checkpoints).toEqual([{ phase: "program", data: { at: 3 } }]);
    const file = `echo '{"no":1}'; echo '{"checkpoint":'$RMHDAG_CHECKPOINT'}' > "$RMHDAG_RESULT"`;
    expect(await run({ command: sh(file) })).toEqual({ checkpoint: { at: 3 } });
  });

  it("reads sources as files, stores its outputs, and sees only the variables that it names", async () => {
    await test.storage.put("bronze/a.txt", Buffer.from("hello"));
    const script = `cp "$(echo "$RMHDAG_PARAMS" | sed 's/.*"text":"\\([^"]*\\)".*/\\1/')" \\
      "$(echo "$RMHDAG_PARAMS" | sed 's/.*"copy":"\\([^"]*\\)".*/\\1/')"
      echo "{\\"seen\\":\\"$ALLOWED$SECRET\\"}"`;
    const file = {
      command: sh(script),
      sources: ["text"],
      outputs: { copy: "silver/{job_id}/b.txt" },
      environment: ["ALLOWED"],
    };
    const environment = { ...process.env, ALLOWED: "yes", SECRET: "no" };
    expect(await run(file, { text: "bronze/a.txt" }, { environment })).toEqual({
      seen: "yes",
      copy: "silver/job-1/b.txt",
    });
    expect((await test.storage.get("silver/job-1/b.txt")).toString()).toBe("hello");
  });

  it("says by its status whether a retry can help, and is never run through a shell", async () => {
    const command = sh("echo what went wrong >&2; exit 75");
    await expect(run({ command })).rejects.toMatchObject({
      category: "transient",
      message: "sh ended with status 75: what went wrong",
    });
    await expect(run({ command, retry_exit_codes: [3] })).rejects.toMatchObject({
      category: "permanent",
    });
    await expect(run({ command: ["echo $HOME; date"] })).rejects.toMatchObject({
      code: "PROGRAM_NOT_STARTED",
    });
  });

  it("is stopped when it prints too much, in its lines or in its result", async () => {
    const limit = { max_output_mb: 0.01 };
    const tooLarge = { code: "OUTPUT_TOO_LARGE", category: "permanent" };
    await expect(run({ ...limit, command: ["yes"] })).rejects.toMatchObject(tooLarge);
    const file = 'head -c 20000 /dev/zero > "$RMHDAG_RESULT"';
    await expect(run({ ...limit, command: sh(file) })).rejects.toMatchObject(tooLarge);
  });

  it("cannot take more memory than its limit", async () => {
    const command = sh("dd if=/dev/zero of=/dev/null bs=256M count=1 && echo '{}'");
    expect(await run({ command, max_memory_mb: 2048 })).toEqual({});
    await expect(run({ command, max_memory_mb: 100 })).rejects.toMatchObject({
      code: "PROGRAM_FAILED",
      message: expect.stringContaining("memory exhausted") as string,
    });
  });

  it("gets SIGTERM with all its processes when it is cancelled, and SIGKILL after its grace", async () => {
    const stop = new AbortController();
    const mark = path.join(test.folder, "mark");
    const script = `(trap 'echo told > ${mark}; exit' TERM; echo ready > ${mark}
      while :; do sleep 1; done) & trap '' TERM
      until [ -s ${mark} ]; do sleep 0.05; done; echo "::progress 1"
      while :; do sleep 1; done`;
    const context = {
      signal: stop.signal,
      progress: () => {
        stop.abort(new Error("cancelled"));
      },
    };
    await expect(run({ command: sh(script), grace_seconds: 0.5 }, {}, context)).rejects.toThrow(
      "cancelled",
    );
    expect(await readFile(mark, "utf8")).toBe("told\n");
  });

  it("ends with all its processes when its worker is killed, at whatever moment", async () => {
    await writeFile(
      path.join(handlers, "it.yaml"),
      stringify({ name: "acme.it", command: sh(`sleep 1000 & trap '' TERM; exec sleep 1000`) }),
    );
    const built = new URL("../../../dist/worker/own-handlers/load-program.js", import.meta.url);
    const context = { workDir: test.context.workDir, task_id: "a", attempt: 0, environment: {} };
    const worker = (delayMs: number) => `
      import { loadProgram } from ${JSON.stringify(built.href)};
      const handler = await loadProgram(${JSON.stringify(path.join(handlers, "it.yaml"))});
      const checkpoint = { load: async () => undefined };
      const { signal } = new AbortController();
      const context = { ...${JSON.stringify(context)}, checkpoint, signal };
      void handler.run({}, context);
      setTimeout(() => process.kill(process.pid, "SIGKILL"), ${delayMs});`;
    const start = (delayMs: number) => {
      const args = ["--input-type=module", "-e", worker(delayMs)];
      return spawn(process.execPath, args, { stdio: "ignore" });
    };
    const moments = [5, 8, 10, 15, 20, 40];
    await Promise.all(moments.map((delayMs) => once(start(delayMs), "exit")));
    await waitFor(() => processesIn(handlers).length === 0, { what: "the end of all programs" });

    const running = start(60_000);
    // The program, its child and the watcher.
    await waitFor(() => processesIn(handlers).length === 3, { what: "the program" });
    running.kill("SIGKILL");
    await waitFor(() => processesIn(handlers).length === 0, { what: "its end" });
  });

  describe("with an image", () => {
    const image = { image: "python:3.12-slim", command: ["python3", "ndvi.py"] };

    it("says clearly when there is neither docker nor podman", async () => {
      const environment = { PATH: test.folder };
      await expect(run(image, {}, { environment })).rejects.toMatchObject({
        code: "NO_CONTAINER_ENGINE",
        category: "permanent",
        message: expect.stringContaining("neither docker nor podman") as string,
      });
    });

    it("says why no container could be started", async () => {
      // What docker prints and answers where its service does not run.
      const programs = path.join(test.folder, "bin");
      await mkdir(programs);
      const reason = "docker: Cannot connect to the Docker daemon. Is the docker daemon running?";
      await writeFile(
        path.join(programs, "docker"),
        `#!/bin/sh\nprintf '%s\\n' '${reason}' '' "Run 'docker run --help' for more information" >&2\nexit 125\n`,
      );
      await chmod(path.join(programs, "docker"), 0o755);
      await expect(run(image, {}, { environment: { PATH: programs } })).rejects.toMatchObject({
        code: "CONTAINER_NOT_STARTED",
        category: "transient",
        message: `No container of the image ${image.image} could be started: ${reason}`,
      });
    });

    it("runs by podman without a network, with its folders mounted and its limits", async () => {
      // It prints how it was called: the arguments are ours, what they do is podman's.
      const programs = path.join(test.folder, "bin");
      await mkdir(programs);
      const standIn = path.join(programs, "podman");
      await writeFile(
        standIn,
        `#!${process.execPath}
const given = require("node:fs").readFileSync(0, "utf8");
console.log("::progress 30 inside");
console.log(JSON.stringify({ args: process.argv.slice(2), given, cwd: process.cwd(), env: process.env }));
`,
      );
      await chmod(standIn, 0o755);
      const environment = { PATH: programs, ALLOWED: "yes", SECRET: "no" };
      const file = { ...image, max_memory_mb: 512, environment: ["ALLOWED"] };
      const answer = (await run(file, { n: 1 }, { environment })) as {
        args: string[];
        given: string;
        env: Record<string, string>;
      };
      const { workDir } = test.context;
      const { args } = answer;
      expect(args.slice(0, 7)).toEqual([
        ...["run", "--rm", "--interactive", "--init", "--network=none"],
        ...[expect.stringMatching(/^--name=rmhdag-/) as string, "--memory=512m"],
      ]);
      expect(args.join(" ")).toContain(
        `--volume ${workDir}:${workDir} --volume ${handlers}:${handlers}:ro --workdir ${handlers}` +
          " python:3.12-slim python3 ndvi.py",
      );
      const passed = args.filter((_, index) => args[index - 1] === "--env");
      expect(passed).toEqual(expect.arrayContaining(["ALLOWED", "RMHDAG_PARAMS", "RMHDAG_RESULT"]));
      expect(passed).not.toContain("SECRET");
      expect(answer.env["SECRET"]).toBeUndefined();
      expect(JSON.parse(answer.given)).toEqual({ n: 1 });
      expect(test.progress).toEqual([30]);
    });

    it("has its container killed by its name when it does not stop", async () => {
      const programs = path.join(test.folder, "bin");
      await mkdir(programs);
      const [standIn, killed] = [path.join(programs, "podman"), path.join(test.folder, "killed")];
      await writeFile(
        standIn,
        `#!/bin/sh
        if [ "$1" = kill ]; then echo "$2" > ${killed}; exit; fi
        trap '' TERM
        for each in "$@"; do case $each in --name=*) echo "::log info $each";; esac; done
        echo "::progress 1"
        while :; do :; done`,
      );
      await chmod(standIn, 0o755);
      const stop = new AbortController();
      const context = {
        environment: { PATH: programs },
        signal: stop.signal,
        progress: () => {
          stop.abort(new Error("cancelled"));
        },
      };
      await expect(run({ ...image, grace_seconds: 0.1 }, {}, context)).rejects.toThrow("cancelled");
      const name = (await readFile(killed, "utf8")).trim();
      expect(test.logged).toContain(`--name=${name}`);
    });
  });
});

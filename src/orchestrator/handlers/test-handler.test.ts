import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { processesIn } from "../../../test/support/processes-in.ts";
import { waitFor } from "../../../test/support/wait.ts";

it("a handler that is tried out ends with the orchestrator, also after kill -9", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-tried-"));
  const handlers = path.join(folder, "handlers");
  await mkdir(handlers);
  await writeFile(path.join(handlers, "it.yaml"), "name: acme.it\ncommand: [sleep, '1000']\n");
  const built = new URL("../../../dist/orchestrator/handlers/test-handler.js", import.meta.url);
  const environment = {
    PATH: process.env["PATH"],
    RMHDAG_HANDLERS: handlers,
    GDAL_ENGINE: "wasm",
    RMHDAG_DATA_DIR: path.join(folder, "data"),
  };
  const script = `import { testHandler } from ${JSON.stringify(built.href)};
    const { signal } = new AbortController();
    const test = { handler: "acme.it", params: {} };
    console.log(await testHandler(${JSON.stringify(environment)}, test, signal));`;
  const args = ["--input-type=module", "-e", script];
  const orchestrator = spawn(process.execPath, args, { cwd: folder, stdio: "pipe" });
  let said = "";
  orchestrator.stdout.on("data", (text: Buffer) => (said += text.toString()));
  try {
    await waitFor(() => processesIn(handlers).length > 0, { what: "the program" });
    orchestrator.kill("SIGKILL");
    // The worker runs in `folder`, its program in `handlers`.
    const left = () => [...processesIn(handlers), ...processesIn(folder)];
    await waitFor(() => left().length === 0, { what: "the end of worker and program" });
  } catch (error) {
    expect.fail(`${String(error)}: ${said}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

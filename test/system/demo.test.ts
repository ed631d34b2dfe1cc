import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { createClient } from "../../src/core/api/client.ts";
import { freePort } from "../support/free-port.ts";
import { endProcesses, startCommand, temporaryFolder } from "../support/processes.ts";
import { waitFor } from "../support/wait.ts";

afterAll(endProcesses, 90_000);

it("makes three layers of two files, looks at them, and leaves nothing running", async () => {
  const folder = await temporaryFolder();
  const program = path.resolve("bin/rmhdag.js");
  const handlers = path.join(folder, "my-handlers");
  await mkdir(handlers);
  await writeFile(path.join(handlers, "hello.yaml"), "name: acme.hello\ncommand: [date]\n");
  const port = await freePort();
  const command = [process.execPath, program, "demo", "--exit", "--port", String(port)];
  const demo = startCommand(command, {
    cwd: folder,
    env: { TMPDIR: folder, RMHDAG_HANDLERS: handlers, RMHDAG_OPEN_ON_LOOPBACK: "true" },
  });
  let hasEnded = false;
  void demo.ended.then(() => {
    hasEnded = true;
  });
  // Its workers offer the user's own handlers too.
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, fetch });
  const isOffered = async () => {
    if (hasEnded) return true;
    const { items } = await client.listHandlers().catch(() => ({ items: [] }));
    return items.some(({ name, alive }) => name === "acme.hello" && alive);
  };
  await waitFor(isOffered, { what: "the handler of RMHDAG_HANDLERS", timeoutMs: 120_000 });
  expect(hasEnded).toBe(false);
  const { status, stdout, stderr } = await demo.ended;
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  const summary = JSON.parse(stdout) as {
    ok: boolean;
    gdal: string[];
    layers: { name: string; tile: { type: string } }[];
  };
  expect(summary.ok).toBe(true);
  expect(summary.gdal[0]).toMatch(/^GDAL \d/);
  expect(summary.layers.map(({ name, tile }) => [name, tile.type])).toEqual([
    ["terrain", "image/png"],
    ["borders", "application/vnd.mapbox-vector-tile"],
    ["hexagons", "application/vnd.mapbox-vector-tile"],
  ]);
}, 240_000);

import { afterAll, expect, it } from "vitest";
import path from "node:path";
import { endProcesses, startCommand, temporaryFolder } from "../support/processes.ts";

afterAll(endProcesses, 90_000);

it("makes three layers of two files, looks at them, and leaves nothing running", async () => {
  const folder = await temporaryFolder();
  const program = path.resolve("bin/rmhdag.js");
  const demo = startCommand([process.execPath, program, "demo", "--exit"], {
    cwd: folder,
    env: { TMPDIR: folder },
  });
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

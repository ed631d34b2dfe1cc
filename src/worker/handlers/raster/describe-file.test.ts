import { utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { writeTiff } from "../../../../test/support/tiff.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import { describeFile } from "./describe-file.ts";

let test: TestContext;
/** How often GDAL was started. */
let runs = 0;
beforeAll(async () => {
  const gdal = await createGdal();
  const counted: typeof gdal = {
    ...gdal,
    run: (...args) => {
      runs += 1;
      return gdal.run(...args);
    },
  };
  test = await createTestContext({ gdal: counted });
});
afterAll(() => test.dispose());

/** Two files of the same size, and of the same time. */
async function write(file: string, epsg: 32_632 | 32_633): Promise<void> {
  const image = { width: 4, height: 4, block: 16, bands: [new Float32Array(16)] };
  await writeFile(file, writeTiff({ images: [image], epsg, origin: [5e5, 5e6], pixel: [9, 9] }));
  await utimes(file, 1_700_000_000, 1_700_000_000);
}

const later = () => Date.now() + 60_000;

async function codeOf(file: string, now: number): Promise<string | null | undefined> {
  const text = await describeFile(test.context, { file, driver: "GTiff" }, now);
  return parseGdalInfo(text)?.crs?.code;
}

it("describes a file of storage once, and again after it was replaced", async () => {
  const file = path.join(test.folder, "stored.tif");
  await write(file, 32_632);
  runs = 0;
  expect(await codeOf(file, later())).toBe("EPSG:32632");
  expect(await codeOf(file, later())).toBe("EPSG:32632");
  expect(runs).toBe(1);
  await write(file, 32_633);
  expect(await codeOf(file, later())).toBe("EPSG:32633");
  expect(runs).toBe(2);
});

it("keeps nothing of a file that was changed a moment ago, or of the task's own", async () => {
  for (const folder of [test.folder, test.context.workDir]) {
    const file = path.join(folder, "fresh.tif");
    await write(file, 32_632);
    runs = 0;
    const now = folder === test.folder ? Date.now() : later();
    expect(await codeOf(file, now)).toBe("EPSG:32632");
    expect(await codeOf(file, now)).toBe("EPSG:32632");
    expect(runs).toBe(2);
  }
});

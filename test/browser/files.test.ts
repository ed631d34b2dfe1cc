/** Files from a laptop in the real browser: each is dropped, and ends on its map. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium, seriousFindings } from "../support/browser.ts";
import type { Console } from "../support/console.ts";
import { openConsole } from "../support/console.ts";
import { fixture } from "../support/fixtures.ts";
import { temporaryFolder } from "../support/processes.ts";

const run = promisify(execFile);
let opened: Console;
let gpkg: string;

/** The browser's own class, which Node does not have. */
declare const DataTransfer: new () => { readonly items: { add(file: File): void } };

/** Drops a file as the system's file manager does. */
async function drop(file: string): Promise<void> {
  const { page } = opened;
  const data = await page.evaluateHandle(
    ({ name, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name));
      return transfer;
    },
    { name: path.basename(file), base64: (await readFile(file)).toString("base64") },
  );
  await page.locator(".drop-zone").dispatchEvent("drop", { dataTransfer: data });
}

/** The picture that a worker has drawn of the file; the browser can show it. */
async function expectPreview(name: string): Promise<void> {
  const picture = opened.page.getByRole("img", { name: `Preview of bronze/${name}` });
  await picture.waitFor({ timeout: 60_000 });
  const width = await picture.evaluate(
    (image) => (image as unknown as { naturalWidth: number }).naturalWidth,
  );
  expect(width).toBeGreaterThan(10);
}

/** The map page has drawn its layer. */
async function expectMap(collection: string): Promise<void> {
  const { page } = opened;
  await page
    .getByRole("link", { name: `Map of ${collection}/` })
    .first()
    .click({ timeout: 60_000 });
  await page.waitForURL(/\/items\/[^/]+\/map/);
  await page.locator("canvas.maplibregl-canvas").waitFor();
  const address = page.url().replace(/\/map.*$/, "/WebMercatorQuad/tilejson.json");
  expect((await opened.context.request.get(address)).status()).toBe(200);
}

describe.skipIf(findChromium() === undefined)("files in the console (needs Chromium)", () => {
  beforeAll(async () => {
    opened = await openConsole({ ownServer: true });
    gpkg = path.join(await temporaryFolder(), "land.gpkg");
    await run("ogr2ogr", [gpkg, fixture("vector/land_110m.geojson")]);
  }, 120_000);
  afterAll(() => opened.close(), 60_000);

  it("turns a dropped GeoTIFF into a map", async () => {
    const { page, go } = opened;
    await go("/storage?folder=bronze/");
    await drop(fixture("raster/dem_float32_epsg2056.tif"));
    await page.getByText("GeoTIFF").waitFor();
    await expectPreview("dem_float32_epsg2056.tif");
    await page.getByText("EPSG:2056").waitFor();
    await page.getByText("1 of float32").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Make a map" }).click();
    await expectMap("rasters");
  });

  it("fills the form of the workflow that fits a zipped shapefile", async () => {
    const { page, go } = opened;
    await go("/workflows/raster_ingest/submit");
    await drop(fixture("vector/wilderness_shapefile.zip"));
    await page.getByRole("heading", { name: "Submit vector_etl" }).waitFor();
    const source = page.getByRole("textbox", { name: "blob_path" });
    await source.waitFor();
    expect(await source.inputValue()).toBe("wilderness_shapefile.zip");
    await expectPreview("wilderness_shapefile.zip");
    await page.getByText("67 features of Polygon").waitFor();
    await page.getByText("EPSG:4326").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Submit", exact: true }).click();
    await page.waitForURL(/\/ui\/jobs\//);
    await go("/storage?folder=bronze/&file=bronze/wilderness_shapefile.zip");
    await expectMap("vector");
  });

  it("turns a dropped GeoPackage into a map, and offers it to every source field", async () => {
    const { page, go } = opened;
    await go("/storage?folder=bronze/");
    await drop(gpkg);
    await page.getByText("GeoPackage").waitFor();
    await expectPreview("land.gpkg");
    await page.getByText("127 features of Polygon").waitFor();
    await page.getByRole("button", { name: "Make a map" }).click();
    await expectMap("vector");
    await go("/workflows/raster_process/submit");
    await page.getByRole("button", { name: "Choose blob_path from storage" }).click();
    await page.getByRole("button", { name: "land.gpkg" }).click();
    expect(await page.getByRole("textbox", { name: "blob_path" }).inputValue()).toBe("land.gpkg");
    expect(await page.getByRole("textbox", { name: "container" }).inputValue()).toBe("bronze");
    expect(opened.complaints).toEqual([]);
  });
});

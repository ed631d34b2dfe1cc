/** The work of curators: layers of real workflows on the map, their styles, and decisions. */
import { isDeepStrictEqual } from "node:util";
import type { Locator, Response } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium, seriousFindings } from "../support/browser.ts";
import type { Console } from "../support/console.ts";
import { openConsole } from "../support/console.ts";
import { putFile, squaresFile, submitVersion, terrainFile } from "../support/layers.ts";
import { colourAt, coloursInMiddle } from "../support/pixels.ts";
import { waitFor } from "../support/wait.ts";

let opened: Console;
let raster: string;
let vector: string;
let tiles: Response[] = [];

const isOff = findChromium() === undefined;
const map = (): Locator => opened.page.locator(".map-box");

/** The cell of an attribute in the table of what was clicked. */
const attribute = (name: string, value: string | RegExp): Locator =>
  opened.page
    .getByRole("table", { name: "Values" })
    .getByRole("row")
    .filter({ has: opened.page.getByRole("rowheader", { name, exact: true }) })
    .getByRole("cell", { name: value });

/** Waits until the colour in the middle of the map passes the test. */
async function sees(what: string, test: (red: number, green: number, blue: number) => boolean) {
  await waitFor(
    async () => {
      const { red, green, blue } = await colourAt(map());
      return test(red, green, blue);
    },
    { what, timeoutMs: 30_000 },
  );
}

/** The colours at the left and at the right of the line of a swipe, once all tiles are drawn. */
async function bothSides() {
  const drawn = opened.page.locator(".map[data-idle]");
  await waitFor(async () => (await drawn.count()) === 2, { what: "both maps to be drawn" });
  return Promise.all([colourAt(map(), 0.45), colourAt(map(), 0.55)]);
}

/** Waits for the pixels of a layer: the base map alone has one or two colours. */
async function seesPixels(): Promise<void> {
  await waitFor(async () => (await coloursInMiddle(map())) > 20, {
    what: "the pixels of the layer",
    timeoutMs: 30_000,
  });
}

describe.skipIf(isOff)("layers in the console (needs Chromium)", () => {
  beforeAll(async () => {
    opened = await openConsole({ ownServer: true });
    const { site, client, page } = opened;
    await putFile(site, "terrain.tif", terrainFile());
    await putFile(site, "squares.geojson", squaresFile(3));
    await putFile(site, "more-squares.geojson", squaresFile(5));
    await putFile(site, "broken.geojson", squaresFile(0));
    [raster, vector] = await Promise.all([
      submitVersion(client, {
        dataset: "terrain",
        label: "2024",
        workflow: "raster_ingest",
        inputs: { blob_path: "ddh/terrain.tif", container: "bronze", collection_id: "heights" },
      }),
      submitVersion(client, {
        dataset: "squares",
        label: "first",
        workflow: "vector_etl",
        inputs: { blob_path: "ddh/squares.geojson", collection_id: "shapes" },
      }),
    ]);
    // It has no features: it waits for a decision for ever, and nothing can be reviewed.
    const { request_id } = await client.submitAsset({
      body: {
        platform_id: "ddh",
        platform_refs: { dataset_id: "broken", resource_id: "main" },
        version_label: "first",
        workflow_id: "vector_etl",
        inputs: { blob_path: "ddh/broken.geojson", collection_id: "shapes" },
      },
    });
    await waitFor(
      async () => (await client.getRequest({ params: { request_id } })).completed_at !== null,
      { what: "the end of the broken version", timeoutMs: 60_000 },
    );
    page.on("response", (response) => {
      if (/\/tiles\/WebMercatorQuad\/\d/.test(response.url())) tiles.push(response);
    });
  }, 180_000);

  afterAll(async () => {
    await opened.close();
  }, 90_000);

  it("lists the versions that wait for a review", async () => {
    const { page, go } = opened;
    await go("/assets");
    await page.getByRole("link", { name: "dataset_id=broken · resource_id=main" }).waitFor();
    await page.getByRole("button", { name: "waiting for review" }).click();
    await page.waitForURL(/processing_state=completed/);
    const rows = page.locator("tbody tr");
    await waitFor(async () => (await rows.count()) === 2, { what: "the two that can be reviewed" });
    expect(await rows.filter({ hasText: "broken" }).count()).toBe(0);
    await rows
      .filter({ hasText: "squares" })
      .getByRole("link", { name: /^Review/ })
      .waitFor();
    await page.getByRole("link", { name: "Review dataset_id=terrain · resource_id=main" }).click();
    await page.waitForURL(`**/ui/review/${raster}/0`);
  });

  it("shows the pixels of a raster before it is approved", async () => {
    const { page } = opened;
    await waitFor(() => tiles.length > 0, { what: "a tile", timeoutMs: 30_000 });
    await seesPixels();
    for (const tile of tiles) {
      expect(tile.url()).toContain(`/tiles/${raster}/tiles/WebMercatorQuad/`);
      expect(tile.url()).toContain("version=0&preview=true");
      expect([200, 204, 304]).toContain(tile.status());
    }
    await page.getByText("Nothing was found wrong").or(page.locator(".finding")).first().waitFor();
  });

  it("recolours the raster at once, and keeps the style when it is saved", async () => {
    const { page, client } = opened;
    await page.getByLabel("Colours").selectOption("viridis");
    await waitFor(() => tiles.some((tile) => tile.url().includes("colormap_name=viridis")), {
      what: "tiles in other colours",
    });
    await page.getByLabel("Rescale").fill("0,100");
    // Everything is higher than 100 m, and so has the last colour of the ramp.
    await sees("one yellow", (red, green, blue) => red > 240 && green > 220 && blue < 60);
    await page.getByLabel("Display name").fill("Heights of the Alps");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("the style is saved for this version").waitFor();
    const style = { colormap_name: "viridis", rescale: [[0, 100]] };
    const { versions } = await client.getAsset({ params: { asset_id: raster } });
    expect(versions[0]).toMatchObject({ style });
    await page.getByRole("heading", { name: "Heights of the Alps" }).waitFor();
    // A range that cannot be read is refused at its field; what is stored stays.
    await page.getByLabel("Rescale").fill("100,0");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Nothing was saved").waitFor();
    await page.getByText("Two numbers, the lower first").waitFor();
    expect(await page.evaluate("document.activeElement.placeholder")).toBe("low,high");
    const after = await client.getAsset({ params: { asset_id: raster } });
    expect(after.versions[0]).toMatchObject({ style });
    await page.reload();
    await sees("one yellow, from what is stored", (red, _green, blue) => red > 240 && blue < 60);
    expect(await page.getByLabel("Rescale").inputValue()).toBe("0,100");
  });

  it("shows the value under a click", async () => {
    await map().click();
    await attribute("b1", /^\d+(\.\d+)?$/).waitFor();
  });

  it("approves with a clearance and a reason", async () => {
    const { page, client, go } = opened;
    await page.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Clearance").selectOption("public");
    await dialog.getByLabel("Reason").fill("the heights are plausible");
    const cli = await dialog.getByRole("button", { name: "CLI" }).getAttribute("title");
    expect(cli).toBe(
      `rmhdag versions approve ${raster} 0 --clearance public --note 'the heights are plausible'`,
    );
    await dialog.getByRole("button", { name: "Approve" }).click();
    await page.locator('h1 .chip[data-status="approved"]').waitFor();
    const { clearance_state, services } = await client.getAsset({ params: { asset_id: raster } });
    const { style } = await client.getLayerMetadata({ params: { asset_id: raster } });
    expect(style).toEqual({ colormap_name: "viridis", rescale: [[0, 100]] });
    expect(clearance_state).toBe("public");
    // Public means without a token.
    expect((await fetch(opened.site.url + services[0]!.tilejson)).status).toBe(200);
    await go(`/assets/${raster}`);
    await page.getByRole("cell", { name: "version approved" }).waitFor();
    await page.getByRole("link", { name: "Map" }).waitFor();
  });

  it("shows features, restyles them live, and shows their attributes", async () => {
    const { page, go } = opened;
    tiles = [];
    await go(`/review/${vector}/0`);
    await sees("the middle square in its first colour", (red, green) => green > red + 30);
    await page.getByLabel("Fill").fill("#ff0000");
    await sees("the middle square in red", (red, green, blue) => red > 200 && green + blue < 250);
    await map().click();
    await attribute("name", "square 1").waitFor();
    await attribute("population", "200").waitFor();
    expect(tiles.length).toBeGreaterThan(0);
    for (const tile of tiles) {
      expect(tile.url()).toContain("version=0&preview=true");
      expect([200, 204, 304]).toContain(tile.status());
    }
    await page.getByLabel("Display name").fill("Squares");
    const read = page.waitForResponse((response) => response.url().endsWith(`/assets/${vector}`));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("the style is saved for this version").waitFor();
    await read;
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.locator('h1 .chip[data-status="approved"]').waitFor();
  });

  it("shows the next version beside the approved one, and rejects it with a reason", async () => {
    const { page, client, go } = opened;
    await submitVersion(client, {
      dataset: "squares",
      workflow: "vector_etl",
      label: "second",
      inputs: { blob_path: "ddh/more-squares.geojson", collection_id: "shapes" },
    });
    await go(`/review/${vector}/1`);
    await page.getByText("approved: first").waitFor();
    await page.getByText("this: second").waitFor();
    /** The middle of the last square, which only the second version has. */
    const seesLast = async (what: string, isThere: boolean, shift = 0) => {
      await waitFor(
        async () => {
          const { width } = (await map().boundingBox())!;
          const { red, green } = await colourAt(
            map(),
            (40 + ((width - 80) * 8.5) / 9 + shift) / width,
          );
          return red > green + 100 === isThere;
        },
        { what, timeoutMs: 30_000 },
      );
    };
    await seesLast("the last square of the second version", true);
    const slider = page.getByRole("slider");
    await slider.fill("100");
    await seesLast("no such square in the approved one", false);
    await slider.fill("0");
    await seesLast("the last square again", true);
    // The line follows the pointer that grabs it.
    await slider.fill("50");
    const box = (await map().boundingBox())!;
    const middle = box.y + box.height / 3;
    await page.mouse.move(box.x + box.width / 2, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, middle, { steps: 4 });
    await page.mouse.up();
    expect(Number(await slider.inputValue())).toBeGreaterThan(98);
    await seesLast("no such square left of the line", false);
    // Dragging the map on the left of the line moves the one on the right too.
    await slider.fill("50");
    await page.mouse.move(box.x + 200, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + 80, middle, { steps: 6 });
    await seesLast("the last square where it was dragged to", true, -120);
    await seesLast("no square where it was", false);
    await page.mouse.up();
    await page.getByRole("button", { name: "Reject" }).click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Reject" });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel("Reason").fill("two squares too many");
    await confirm.click();
    await page.locator('h1 .chip[data-status="rejected"]').waitFor();
    await go(`/assets/${vector}`);
    await page.getByText("two squares too many").first().waitFor();
  });

  it("restyles a version that is not approved, and what is served stays as it was", async () => {
    const { page, client, go } = opened;
    await go(`/review/${vector}/1`);
    await page.getByLabel("Fill").fill("#0000ff");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("the style is saved for this version").waitFor();
    const served = await client.getLayerMetadata({ params: { asset_id: vector } });
    expect(served.style?.vector?.fill).toBe("#ff0000");
    await page.getByRole("heading", { name: "Review Squares" }).waitFor();
  });

  it("lets a person sign in before a map of official use, and reads small features on it", async () => {
    const { token, site, browser } = opened;
    const context = await browser.newContext({ viewport: { width: 1000, height: 500 } });
    const page = await context.newPage();
    await page.goto(`${site.url}/tiles/${vector}/map`);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`**/tiles/${vector}/map*`);
    expect(await page.title()).toBe("Squares");
    await page.locator('#map[data-state="idle"]').waitFor();
    // The whole world: a square of one degree is smaller than the pointer.
    const out = page.getByRole("button", { name: "Zoom out" });
    await waitFor(
      async () => {
        const scale = await page.locator(".maplibregl-ctrl-scale").textContent();
        const [, km = "0"] = /^(\d+)\s*km$/.exec(scale ?? "") ?? [];
        if (Number(km) >= 2000) return true;
        await out.click();
        return false;
      },
      { what: "the whole world", timeoutMs: 30_000 },
    );
    await page.locator("#map").click({ position: { x: 500, y: 250 } });
    await page.locator("#value dt", { hasText: "name" }).waitFor();
    await page.locator("#value dd", { hasText: /^square \d$/ }).waitFor();
    await context.close();
  });

  it("browses the catalogue: collections, items on the map, one with its pixels", async () => {
    const { page, go } = opened;
    await go("/catalogue");
    await page.getByRole("button", { name: /heights/ }).click();
    await page.waitForURL(/collection=heights/);
    const entry = page.locator(".map-list .map-entry").first();
    await entry.click();
    await page.waitForURL(/item=/);
    await seesPixels();
    expect(await entry.getAttribute("aria-current")).toBe("true");
    await page.locator("pre[aria-label=properties]", { hasText: "proj:" }).waitFor();
    await map().click();
    await attribute("b1", /^\d+(\.\d+)?$/).waitFor();
    await page.getByRole("button", { name: "All collections" }).click();
    await page.getByRole("button", { name: /shapes/ }).click();
    await page.locator(".map-list .map-entry").first().click();
    await page.getByText("Click on the layer").waitFor();
    await sees("a square", (red, green) => Math.abs(red - green) > 30);
    await map().click();
    await attribute("name", /^square \d$/).waitFor();
  });

  it("lists every item of a collection, beyond the first hundred", async () => {
    const { page, go, site, token } = opened;
    const post = async (address: string, body: object) => {
      const answer = await fetch(`${site.url}/stac/collections${address}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(answer.ok, await answer.text()).toBe(true);
    };
    const stac = { stac_version: "1.1.0", links: [] };
    const extent = {
      spatial: { bbox: [[-180, -90, 180, 90]] },
      temporal: { interval: [[null, null]] },
    };
    const about = { description: "Points.", license: "other" };
    await post("", { ...stac, type: "Collection", id: "points", extent, ...about });
    const features = Array.from({ length: 130 }, (_, at) => ({
      ...stac,
      type: "Feature",
      id: `point-${at}`,
      collection: "points",
      geometry: { type: "Point", coordinates: [at, 0] },
      bbox: [at, 0, at, 0],
      properties: { datetime: "2024-03-04T05:06:07Z" },
      assets: {},
    }));
    await post("/points/items", { type: "FeatureCollection", features });
    await go("/catalogue?collection=points");
    const entries = page.locator(".map-list .map-entry");
    await waitFor(async () => (await entries.count()) === 100, { what: "the first page" });
    await page.getByRole("button", { name: "More items" }).click();
    await waitFor(async () => (await entries.count()) === 130, { what: "the other items" });
    await page.getByRole("button", { name: "More items" }).waitFor({ state: "detached" });
  });

  it.each(["light", "dark"] as const)(
    "has no serious barrier on pages that are full, %s",
    async (scheme) => {
      const { page, go } = opened;
      await page.emulateMedia({ colorScheme: scheme });
      const pages: [string, string][] = [
        ["/assets", "tbody tr"],
        [`/review/${vector}/1`, ".swipe-line"],
        ["/catalogue?collection=heights", ".map canvas"],
        [`/assets/${vector}`, "tbody tr"],
        ["/catalogue", ".map canvas"],
      ];
      // Colours are all that dark changes.
      for (const [address, sign] of scheme === "light" ? pages : pages.slice(1, 3)) {
        await go(address);
        await page.locator(sign).first().waitFor();
        const findings = await seriousFindings(page);
        expect({ address, findings }).toEqual({ address, findings: [] });
      }
    },
    120_000,
  );

  it("draws what was made of a file, and goes on from there", async () => {
    const { page } = opened;
    await opened.go("/lineage?path=bronze/ddh/squares.geojson");
    await page.getByRole("button", { name: "squares.geojson" }).waitFor();
    await page.getByRole("button", { name: `${vector} v0` }).click();
    await page.waitForURL(/version=/);
    await page.getByRole("row").filter({ hasText: "bronze/ddh/squares.geojson" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it("downloads a layer in a format of choice", async () => {
    const { page } = opened;
    await opened.go(`/assets/${vector}`);
    await page.getByRole("button", { name: "Download" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Format").selectOption("flatgeobuf");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/\.fgb$/);
  });

  it("computes values by hexagon, compares them by a line to drag, and says what is stale", async () => {
    const { page, go, client, site } = opened;
    for (const name of ["low", "high"]) {
      const source = { blob_path: "bronze/ddh/terrain.tif" };
      const statistics = name === "low" ? ["min", "count", "histogram"] : ["max"];
      const configuration = { max_resolution: 6, statistics };
      await client.putH3Source({ params: { raster: name }, body: { source, configuration } });
    }
    for (const name of ["low", "high"]) {
      await go("/h3?status=never");
      const row = page.getByRole("row").filter({ hasText: name });
      await row.getByRole("button", { name: "Compute" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Compute" }).click();
      await page.waitForURL(/\/ui\/jobs\//);
      await waitFor(
        async () =>
          (await client.listH3Runs({ query: { raster: name } })).items[0]?.item_id != null,
        { what: `the end of ${name}`, timeoutMs: 60_000 },
      );
    }
    await go("/h3");
    await page.getByText("No such data sets").waitFor({ state: "detached" });
    const side = (name: string) => page.getByRole("combobox", { name, exact: true });
    tiles = [];
    await side("Left").selectOption("low/static");
    await side("Right").selectOption("high/static");
    await page.locator(".swipe-line").waitFor();
    await waitFor(() => tiles.some((tile) => tile.url().includes("h3-high-static")), {
      what: "tiles of hexagons",
    });
    await seesPixels();
    const { width = 0, height = 0 } = (await map().boundingBox()) ?? {};
    for (const [share, column] of [
      [0.55, "max"],
      [0.45, "min"],
    ] as const) {
      await map().click({ position: { x: share * width, y: height / 2 } });
      await attribute(column, /^[\d,.]+$/).waitFor();
      await attribute("h3_index", /^8[0-9a-f]{14}$/).waitFor();
    }
    // The cell has hundreds of different heights.
    const intervals = page.getByRole("rowheader", { name: /^histogram: [\d.]+ to [\d.]+$/ });
    expect(await intervals.count()).toBe(10);
    await page.getByRole("img", { name: /^low: count from [\d.,]+ to [\d.,]+$/ }).waitFor();
    await page.getByRole("img", { name: /^high: max from [\d.,]+ to [\d.,]+$/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    // Numbers alone can colour; the keyboard comes from the data set to its statistic.
    const stat = side("Left statistic");
    expect(await stat.locator("option").allTextContents()).toEqual(["count", "min"]);
    expect(await stat.inputValue()).toBe("count");
    const others = side("Right statistic").locator("option");
    expect(await others.allTextContents()).toEqual(["max"]);
    const [byCount, right] = await bothSides();
    await side("Left").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.waitForURL(/left_stat=min/);
    await page.getByText("low · min").waitFor();
    await page.getByRole("img", { name: /^low: min from [\d.,]+ to [\d.,]+$/ }).waitFor();
    const isByMin = async () => {
      const [one, other] = await bothSides();
      return !isDeepStrictEqual(one, byCount) && isDeepStrictEqual(other, right);
    };
    await waitFor(isByMin, { what: "other colours on the left alone" });
    await page.reload();
    await page.getByText("low · min").waitFor();
    expect(await stat.inputValue()).toBe("min");
    await waitFor(isByMin, { what: "the same colours after a reload", timeoutMs: 30_000 });
    // The other data set has no such statistic.
    await side("Left").selectOption("high/static");
    await page.getByText("high · max").nth(1).waitFor();
    expect(page.url()).not.toContain("left_stat");

    await putFile(site, "terrain.tif", Buffer.concat([terrainFile(), Buffer.from([0])]));
    await go("/h3?status=stale");
    await waitFor(
      async () => (await page.getByRole("row").filter({ hasText: "stale" }).count()) === 2,
      {
        what: "two stale data sets",
      },
    );
  }, 120_000);

  it("fits a telephone", async () => {
    const { page, go } = opened;
    await page.setViewportSize({ width: 390, height: 800 });
    for (const address of ["/assets", `/assets/${vector}`, `/review/${vector}/1`, "/catalogue"]) {
      await go(address);
      await page.locator("tbody tr, .map canvas").first().waitFor();
      const wide: boolean = await page.evaluate(
        "document.documentElement.scrollWidth > window.innerWidth",
      );
      expect({ address, wide }).toEqual({ address, wide: false });
    }
  });

  it("never broke its own content policy, nor threw", () => {
    expect(opened.complaints).toEqual([]);
  });
});

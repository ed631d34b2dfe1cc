/** The operations that PROJ uses to WGS 84, with the accuracies that pyproj 3.7 (PROJ 9.5) tells for them. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/fixtures.ts";
import { hasGdal } from "../../../test/support/gdal.ts";
import { createTestContext } from "../../../test/support/handler-context.ts";
import type { TestContext } from "../../../test/support/handler-context.ts";
import { createGdal } from "../../adapters/gdal/create-gdal.ts";
import { describeTransformation, readOperation } from "../../core/raster/transformation.ts";
import {
  findTransformation,
  findTransformationAt,
  warnOfTransformation,
} from "./assess-transformation.ts";

/** `TransformerGroup(crs, "OGC:CRS84").transformers`, without the steps that only project. */
const accuracies: Readonly<Record<string, number>> = {
  "OSGB36 to WGS 84 (6)": 2,
  "OSGB36 to WGS 84 (9)": 1,
  "DHDN to WGS 84 (2)": 3,
  "DHDN to WGS 84 (4)": 1,
  "ED50 to WGS 84 (17)": 2,
  "ED50 to WGS 84 (18)": 1,
  "NAD27 to WGS 84 (6)": 7,
  "Amersfoort to WGS 84 (4)": 1,
  "GDA94 to WGS 84 (1)": 3,
  "AGD84 to WGS 84 (7)": 3,
  "ETRS89 to WGS 84 (1)": 1,
  "CH1903+ to WGS 84 (1)": 1,
  "KGD2002 to WGS 84 (1)": 1,
  // The name of the same operation in PROJ 9.1.
  "Korea 2000 to WGS 84 (1)": 1,
  "NAD83 to WGS 84 (1)": 4,
};
/** WKT of systems, by PROJ; `test/fixtures/families/make.py` wrote them. */
const places = JSON.parse(readFileSync(fixture("families/places.json"), "utf8")) as {
  code: string;
  wkt2: string;
}[];
const engines = hasGdal ? (["native", "wasm"] as const) : (["wasm"] as const);

describe.each(engines)("on the engine %s", (engine) => {
  let test: TestContext;
  beforeAll(async () => {
    test = await createTestContext({ gdal: await createGdal({ prefer: engine }) });
  });
  afterAll(() => test.dispose());

  it.each<[crs: string, place: [number, number], operation: RegExp]>([
    ["EPSG:27700", [-2, 52.6], /^OSGB36 to WGS 84 \((?:6|9)\)$/],
    ["EPSG:31467", [9, 49.6], /^DHDN to WGS 84 \((?:2|4)\)$/],
    ["EPSG:4230", [10, 50], /^ED50 to WGS 84 \(1[78]\)$/],
    ["EPSG:4267", [-90, 40], /^NAD27 to WGS 84 \(6\)$/],
    ["EPSG:28992", [5.387, 52.155], /^Amersfoort to WGS 84 \(4\)$/],
    ["EPSG:7415", [5.387, 52.155], /^Amersfoort to WGS 84 \(4\)$/],
    ["EPSG:4283", [135, -25], /^GDA94 to WGS 84 \(1\)$/],
    ["EPSG:20350", [117, -31.6], /^AGD84 to WGS 84 \(7\)$/],
    ["EPSG:3035", [10, 50], /^ETRS89 to WGS 84 \(1\)$/],
    ["EPSG:2056", [7.44, 46.95], /^CH1903\+ to WGS 84 \(1\)$/],
    ["EPSG:5179", [127.5, 37.5], /^(?:KGD2002|Korea 2000) to WGS 84 \(1\)$/],
    ["EPSG:26918", [-75, 40], /^NAD83 to WGS 84 \(1\)$/],
  ])("%s at %j", async (crs, place, operation) => {
    const used = await findTransformationAt(test.context, crs, place);
    expect(used?.operation).toMatch(operation);
    expect([used!.operation, used!.accuracy]).toEqual([
      used!.operation,
      accuracies[used!.operation],
    ]);
  });

  it.each<[code: string, place: [number, number], operation: RegExp]>([
    ["EPSG:31467", [9.2, 50], /^DHDN to WGS 84 \((?:2|4)\)$/],
    ["EPSG:28992", [5.387, 52.155], /^Amersfoort to WGS 84 \(4\)$/],
    ["EPSG:27700", [-2.2, 52], /^OSGB36 to WGS 84 \((?:6|9)\)$/],
  ])("the definition of %s at %j", async (code, place, operation) => {
    const { wkt2 } = places.find((each) => each.code === code)!;
    const used = await findTransformationAt(test.context, wkt2, place);
    expect(used?.operation).toMatch(operation);
    expect(used!.accuracy).toBe(accuracies[used!.operation]);
    // PROJ's database also lists grids without a name, which PROJ cannot read.
    const grids: Record<string, string[]> = {
      "DHDN to WGS 84 (2)": ["de_adv_BETA2007.tif"],
      "OSGB36 to WGS 84 (6)": ["uk_os_OSTN15_NTv2_OSGBtoETRS.tif"],
    };
    expect(used!.missing_grids).toEqual(grids[used!.operation] ?? []);
  });

  it("tells a grid that is not installed, where it covers the place and is finer", async () => {
    const used = await findTransformation(test.context, "EPSG:4277", [-2, 52]);
    if (used!.operation === "OSGB36 to WGS 84 (6)") {
      expect(used!.missing_grids).toEqual(["uk_os_OSTN15_NTv2_OSGBtoETRS.tif"]);
      expect(warnOfTransformation(used)).toMatchObject({
        code: "TRANSFORMATION_GRID_MISSING",
        text: expect.stringContaining("exact to 2 m") as string,
      });
    }
    // The grid of Spain does not help in Germany.
    const german = await findTransformation(test.context, "EPSG:4230", [10, 50]);
    expect(german!.missing_grids).toEqual([]);
    // The grid between GDA94 and GDA2020 makes nothing finer on WGS 84, which is known to 3 m.
    const australian = await findTransformation(test.context, "EPSG:4283", [135, -25]);
    expect(australian!.missing_grids).toEqual([]);
  });

  it("tells a datum that PROJ cannot transform, and says nothing where there is one datum", async () => {
    const rome = await findTransformation(test.context, "EPSG:4806", [0, 42]);
    expect(rome!.accuracy).toBeNull();
    expect(warnOfTransformation(rome)?.code).toBe("TRANSFORMATION_UNKNOWN");
    expect(await findTransformation(test.context, "EPSG:32633", [500000, 5500000])).toBeUndefined();
    expect(await findTransformation(test.context, "EPSG:4326", [1, 2])).toBeUndefined();
  });
});

it("knows that a grid is installed under its older name", () => {
  const messages = [
    "PROJ: pj_open_lib(de_adv_BETA2007.tif): call fopen(de_adv_BETA2007.tif) - failed",
    "PROJ: pj_open_lib(BETA2007.gsb): call fopen(/usr/share/proj/BETA2007.gsb) - succeeded",
    "PROJ: Using coordinate operation Inverse of 3-degree Gauss-Kruger zone 3 + DHDN to WGS 84 (4) + axis order change (2D)",
  ].join("\n");
  const found = readOperation(messages)!;
  expect(describeTransformation(found, "")).toEqual({
    operation: "DHDN to WGS 84 (4)",
    accuracy: null,
    missing_grids: [],
  });
});

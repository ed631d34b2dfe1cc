/** GML in systems whose first axis is the latitude, the longitude, the north and the east. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { hasGdal } from "../../../../test/support/gdal.ts";
import { createTestContext } from "../../../../test/support/handler-context.ts";
import { createGdal } from "../../../adapters/gdal/create-gdal.ts";
import { prepareVector } from "./prepare.ts";

const engines = hasGdal ? (["native", "wasm"] as const) : (["wasm"] as const);
const urn = "urn:ogc:def:crs:EPSG::";
const point = (system: string, position: string) =>
  `<f:member><f:town><f:at><gml:Point srsName="${system}"><gml:pos>${position}</gml:pos></gml:Point></f:at></f:town></f:member>`;
const collection = (...members: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?><f:all xmlns:f="http://towns.example" xmlns:gml="http://www.opengis.net/gml/3.2">${members.join("")}</f:all>`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe.each(engines)("GML on the engine %s", (engine) => {
  // Cologne and Geneva, give or take some kilometres.
  it.each<[what: string, system: string, north: string, south: string]>([
    ["latitude first", `${urn}4326`, "50.94 6.95", "46.2 6.15"],
    ["longitude first", "EPSG:4326", "6.95 50.94", "6.15 46.2"],
    ["north first", `${urn}31467`, "5645000 3355000", "5120000 3280000"],
    ["east first", `${urn}25832`, "356000 5645000", "280000 5120000"],
  ])("lies where GDAL places it: %s", async (_what, system, north, south) => {
    const gdal = await createGdal({ prefer: engine });
    const test = await createTestContext({ database: database.db, gdal });
    onTestFinished(() => test.dispose());
    const text = collection(point(system, north), point(system, south));
    await test.storage.put("bronze/towns.gml", Buffer.from(text));
    const { bounds } = (await test.run(prepareVector, { blob_path: "bronze/towns.gml" })) as {
      bounds: number[];
    };
    const [source, made] = ["own.gml", "own.json"].map((name) => path.join(test.folder, name));
    await writeFile(source!, text);
    const args = ["-f", "GeoJSON", "-t_srs", "EPSG:4326", made!, source!];
    await gdal.run("ogr2ogr", args, { workDir: test.folder });
    const { features } = JSON.parse(await readFile(made!, "utf8")) as {
      features: { geometry: { coordinates: [number, number] } }[];
    };
    const places = features.map(({ geometry }) => geometry.coordinates);
    expect(places).toHaveLength(2);
    const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
    const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    for (const [index, value] of box.entries()) expect(bounds[index]).toBeCloseTo(value, 6);
    expect(bounds.map((value) => Math.round(value))).toEqual([6, 46, 7, 51]);
  });
});

import { expect, it } from "vitest";
import { splitArguments } from "./wasm-split-arguments.ts";

it.each([
  ["gdal_translate", "-of COG -co A=B in.tif out.tif", ["in.tif", "out.tif"]],
  ["gdal_translate", "in.tif -q out.tif -of GTiff", ["in.tif", "out.tif"]],
  ["gdal_translate", "-a_ullr -180 90 180 -90 in.tif out.tif", ["in.tif", "out.tif"]],
  ["gdal_translate", "-scale in.tif out.tif", ["in.tif", "out.tif"]],
  ["gdal_translate", "-scale 0 255 in.tif out.tif", ["in.tif", "out.tif"]],
  ["gdal_translate", "-scale_1 0 1 0 255 -gcp 0 0 1.5 -2 in.tif out.tif", ["in.tif", "out.tif"]],
  ["gdalwarp", "-tr 10 -10 -tap -te -1 -2 3 4 a.tif b.tif c.tif", ["a.tif", "b.tif", "c.tif"]],
  ["gdalinfo", "-json -stats in.tif", ["in.tif"]],
  ["ogrinfo", "-so in.gpkg -fields=YES layer", ["in.gpkg", "layer"]],
  ["ogr2ogr", "-f GPKG -clipsrc 0 0 1 1 out.gpkg in.shp layer", ["out.gpkg", "in.shp", "layer"]],
  ["ogr2ogr", "-clipsrc mask.shp -makevalid out.gpkg in.shp", ["out.gpkg", "in.shp"]],
  ["gdalbuildvrt", "-separate -resolution highest out.vrt a b", ["out.vrt", "a", "b"]],
] as const)("%s %s names %j", (program, line, names) => {
  const args = line.split(" ");
  const split = splitArguments(program, args);
  expect(split.names).toEqual(names);
  expect([...split.options, ...split.names].toSorted()).toEqual(args.toSorted());
});

it("keeps settings and open options apart from what the library takes", () => {
  const line = "--config GDAL_CACHEMAX 64 -oo X=lon -if CSV -f GPKG out.gpkg in.csv";
  expect(splitArguments("ogr2ogr", line.split(" "))).toEqual({
    options: ["-f", "GPKG"],
    names: ["out.gpkg", "in.csv"],
    config: [["GDAL_CACHEMAX", "64"]],
    openOptions: ["X=lon"],
  });
});

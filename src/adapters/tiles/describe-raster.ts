import { toBounds } from "../../core/serving/coverage.ts";
import type { RasterInfo } from "../../core/serving/raster-info.ts";
import type { RasterFile } from "./raster-file.ts";

export function describeRaster(raster: RasterFile): RasterInfo {
  const [full, ...overviews] = raster.levels;
  const { nodata, alphaBand, samples } = raster;
  const colours = ["red", "green", "blue"];
  return {
    bounds: [...toBounds(raster.extent)],
    crs: raster.code === undefined ? null : `http://www.opengis.net/def/crs/EPSG/0/${raster.code}`,
    driver: "GTiff",
    width: full.width,
    height: full.height,
    count: samples,
    dtype: raster.sampleType,
    colorinterp: Array.from({ length: samples }, (_, index) =>
      index + 1 === alphaBand
        ? "alpha"
        : raster.isColour
          ? (colours[index] ?? "undefined")
          : raster.palette !== undefined
            ? "palette"
            : index === 0
              ? "gray"
              : "undefined",
    ),
    nodata_type:
      nodata !== undefined
        ? "Nodata"
        : alphaBand !== undefined
          ? "Alpha"
          : full.mask !== undefined
            ? "Mask"
            : "None",
    nodata_value: nodata === undefined ? null : Number.isNaN(nodata) ? "nan" : nodata,
    overviews: overviews.map(({ width }) => Math.round(full.width / width)),
    minzoom: raster.minZoom,
    maxzoom: raster.maxZoom,
    band_descriptions: raster.descriptions.map((text, index) => [`b${index + 1}`, text]),
  };
}

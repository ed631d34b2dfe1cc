"""Called by bench/h3.js: writes a raster, or extracts statistics of polygons with exactextract."""
import json
import sys
import time


def make_raster(path, pixel, values):
    import numpy
    import rasterio
    from rasterio.transform import from_origin

    west, north, side = 9.9, 48.4, 2.2
    size = round(side / pixel)
    random = numpy.random.default_rng(7)
    profile = dict(driver="GTiff", width=size, height=size, count=1, dtype="float32", crs="EPSG:4326",
                   transform=from_origin(west, north, pixel, pixel), tiled=True, blockxsize=512,
                   blockysize=512, compress="deflate", zlevel=1, bigtiff="IF_SAFER")
    with rasterio.open(path, "w", **profile) as target:
        for top in range(0, size, 512):
            rows = min(512, size - top)
            block = random.integers(0, 4000, (rows, size)).astype("float32")
            if values == "fractions":
                block += random.random((rows, size), dtype="float32")
            target.write(block, 1, window=rasterio.windows.Window(0, top, size, rows))


def extract(raster, zones, answer, names):
    import exactextract

    names = names.split(",")
    with open(zones) as file:
        features = json.load(file)["features"]
    before = time.perf_counter()
    found = exactextract.exact_extract(raster, features, names, include_cols=["cell"])
    seconds = time.perf_counter() - before
    cells = {each["properties"]["cell"]: each["properties"] for each in found}
    with open(answer, "w") as file:
        json.dump({"seconds": seconds, "cells": cells}, file)


if sys.argv[1] == "raster":
    make_raster(sys.argv[2], float(sys.argv[3]), sys.argv[4])
else:
    extract(*sys.argv[2:])

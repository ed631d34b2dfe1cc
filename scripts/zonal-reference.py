"""Writes test/fixtures/zonal/reference.json: statistics by exactextract, for the tests of zonal.

Needs Python with exactextract, numpy, shapely, pyproj and h3:
    python -m venv /tmp/zonal && /tmp/zonal/bin/pip install exactextract numpy shapely pyproj h3
    /tmp/zonal/bin/python scripts/zonal-reference.py
"""
import json
import math
import pathlib

import exactextract
import h3
import numpy as np
import pyproj
from exactextract.raster import NumPyRasterSource
from shapely import affinity
from shapely.geometry import Polygon, box, mapping
from shapely.ops import transform as reproject
from shapely.ops import unary_union

TARGET = pathlib.Path(__file__).parent.parent / "test/fixtures/zonal/reference.json"
NAMES = ["count", "sum", "mean", "median", "stdev", "min", "max", "majority", "unique", "frac"]


def noise(column, row):
    """The same integers in JavaScript: all products stay below 2**53."""
    return ((column * 7919 + row * 104729 + column * row * 31) % 65521) % 1000


def values(kind, width, height):
    rows, columns = np.mgrid[0:height, 0:width].astype(np.int64)
    if kind == "constant":
        return np.full((height, width), 7.5)
    if kind == "ramp":
        return columns * 0.5 - rows * 0.25
    if kind == "categorical":
        return (noise(columns, rows) % 5).astype(float)
    made = noise(columns, rows).astype(float)
    if kind == "masked":
        made[noise(columns + 3, rows + 5) % 4 == 0] = math.nan
    return made


def fine(polygon, step):
    """Edges are straight in longitude and latitude: points every `step` degrees."""
    return polygon.segmentize(step)


def cell_polygon(cell):
    """The cell between -180 and 180, cut at the antimeridian and closed over a pole."""
    ring = [(lon, lat) for lat, lon in h3.cell_to_boundary(cell)]
    steps = [b[0] - a[0] for a, b in zip(ring, ring[1:] + ring[:1])]
    crossings = sum(abs(step) > 180 for step in steps)
    if crossings == 0:
        return Polygon(ring)
    if crossings == 2:
        whole = Polygon([(lon + 360 if lon < 0 else lon, lat) for lon, lat in ring])
        east = whole.intersection(box(0, -90, 180, 90))
        west = affinity.translate(whole.intersection(box(180, -90, 540, 90)), -360)
        return unary_union([east, west])
    pole = 90 if ring[0][1] > 0 else -90
    turned = sorted(ring)
    first, last = turned[0], turned[-1]
    share = (180 - last[0]) / (first[0] + 360 - last[0])
    edge = last[1] + share * (first[1] - last[1])
    return Polygon([(-180, edge), *turned, (180, edge), (180, pole), (-180, pole)])


STAR = Polygon([(3.2, 3.1), (17.9, 5.5), (14.3, 10.2), (18.4, 17.7), (9.1, 13.3), (2.2, 18.8)])
HOLED = Polygon(STAR.exterior.coords, [[(7, 8), (11, 7.5), (10.2, 11.1)]])


def cases():
    plain = {"crs": 4326, "transform": [1, 0, 0, 0, -1, 20], "size": [20, 20]}
    for kind in ["constant", "ramp", "random", "masked", "categorical"]:
        yield {"name": f"{kind} star", **plain, "values": kind}, STAR
        yield {"name": f"{kind} with a hole", **plain, "values": kind}, HOLED
    yield {"name": "smaller than a pixel", **plain, "values": "random"}, box(5.2, 5.2, 5.4, 5.9)
    yield {"name": "half outside", **plain, "values": "random"}, box(-5.5, 3.3, 4.4, 30)

    turned = {"crs": 4326, "transform": [0.9, 0.3, 1, 0.25, -0.8, 16], "size": [20, 20]}
    for kind in ["random", "masked"]:
        yield {"name": f"rotated {kind}", **turned, "values": kind}, STAR

    utm = {"crs": 32633, "transform": [1000, 0, 300000, 0, -1000, 5700000], "size": [400, 300]}
    yield {"name": "UTM", **utm, "values": "random"}, Polygon(
        [(13.1, 49.2), (16.8, 49.7), (16.2, 51.1), (13.6, 50.8)]
    )
    yield {"name": "UTM cell of level 3", **utm, "values": "random"}, h3.latlng_to_cell(50, 15, 3)
    yield {"name": "UTM cell of level 5", **utm, "values": "masked"}, h3.latlng_to_cell(50, 15, 5)
    mercator = {"crs": 3857, "transform": [5000, 0, 1000000, 0, -5000, 7500000], "size": [300, 300]}
    yield {"name": "web Mercator", **mercator, "values": "ramp"}, h3.latlng_to_cell(52, 15, 2)
    north = {"crs": 3413, "transform": [20000, 0, -3000000, 0, -20000, 3000000], "size": [300, 300]}
    yield {"name": "polar cell with the pole", **north, "values": "random"}, h3.latlng_to_cell(90, 0, 2)
    yield {"name": "polar cell at 180", **north, "values": "random"}, h3.latlng_to_cell(80, 180, 2)

    globe = {"crs": 4326, "transform": [0.25, 0, -180, 0, -0.25, 90], "size": [1440, 720]}
    for name, cell in {
        "cell at the equator": h3.latlng_to_cell(0.3, 20, 3),
        "antimeridian cell": h3.latlng_to_cell(-17, 179.99, 2),
        "antimeridian cell in the north": h3.latlng_to_cell(66, -179.9, 2),
        "cell with the north pole": h3.latlng_to_cell(90, 0, 2),
        "cell with the south pole": h3.latlng_to_cell(-90, 0, 2),
        "pentagon of level 2": sorted(h3.get_pentagons(2))[3],
        "pentagon of level 4": sorted(h3.get_pentagons(4))[7],
    }.items():
        yield {"name": name, **globe, "values": "random"}, cell
    shifted = {"crs": 4326, "transform": [0.25, 0, 0, 0, -0.25, 90], "size": [1440, 720]}
    yield {"name": "longitudes from 0 to 360", **shifted, "values": "random"}, h3.latlng_to_cell(40, -100, 3)


def to_pixels(case, polygon):
    a, b, c, d, e, f = case["transform"]
    area = a * e - b * d
    inverse = [e / area, -b / area, -d / area, a / area,
               (b * f - c * e) / area, (c * d - a * f) / area]
    return affinity.affine_transform(polygon, inverse)


def run(case, zone):
    polygon = cell_polygon(zone) if isinstance(zone, str) else zone
    given = {"cell": zone} if isinstance(zone, str) else {"polygon": mapping(zone)["coordinates"]}
    if case["crs"] != 4326:
        project = pyproj.Transformer.from_crs(4326, case["crs"], always_xy=True).transform
        polygon = reproject(project, fine(polygon, 0.002)).buffer(0)
    if case["transform"][2] == 0 and case["name"].startswith("longitudes"):
        polygon = affinity.translate(polygon, 360)
    width, height = case["size"]
    # In pixels, with y upwards: exactextract takes no rotated raster.
    pixels = to_pixels(case, polygon)
    flipped = affinity.affine_transform(pixels, [1, 0, 0, -1, 0, height])
    source = NumPyRasterSource(values(case["values"], width, height), 0, 0, width, height)
    feature = {"type": "Feature", "properties": {}, "geometry": mapping(flipped)}
    (answer,) = exactextract.exact_extract(source, [feature], NAMES)
    found = answer["properties"]
    histogram = sorted(
        (float(value), float(share) * found["count"])
        for value, share in zip(found.pop("unique"), found.pop("frac"))
    )
    statistics = {name: float(value) for name, value in found.items()}
    if case["values"] == "categorical":
        statistics["histogram"] = {f"{value:g}": count for value, count in histogram}
    return {**case, **given, "statistics": dict(sorted(statistics.items()))}


def chunk():
    """All cells of one chunk, resolutions 2 to 5, of a raster of 32-bit floats with nodata."""
    width, height = 480, 320
    case = {"crs": 4326, "transform": [0.0125, 0, 8, 0, -0.0125, 49], "size": [width, height]}
    parent = h3.latlng_to_cell(47, 11, 3)
    cells = [h3.cell_to_parent(parent, 2)]
    for resolution in [3, 4, 5]:
        cells += sorted(h3.cell_to_children(parent, resolution))
    found = {}
    for cell in cells:
        made = run({"name": cell, **case, "values": "masked"}, cell)["statistics"]
        if made["count"] > 0:
            found[cell] = made
    return {"h3_l3": parent, **case, "values": "masked", "cells": found}


TARGET.parent.mkdir(parents=True, exist_ok=True)
found = [run(case, zone) for case, zone in cases()]
TARGET.write_text(json.dumps({"exactextract": exactextract.__version__, "chunk": chunk(), "cases": found}, separators=(",", ":")).replace("{\"name\"", "\n{\"name\"") + "\n")
print(f"{len(found)} cases")

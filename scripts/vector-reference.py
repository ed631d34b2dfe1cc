"""Writes test/fixtures/zonal/vector-reference.json: lengths and areas of features in H3 cells.

Shapely cuts the features along the cells, in longitude and latitude, and pyproj measures the parts on
the ellipsoid of WGS 84. Needs h3, shapely and pyproj from PyPI.
"""

import json
import math
import pathlib
import random

import h3
from pyproj import Geod
from shapely.affinity import translate
from shapely.geometry import LineString, MultiPolygon, Polygon, mapping
from shapely.ops import unary_union

geod = Geod(ellps="WGS84")


def ring_of(cell):
    ring = []
    for lat, lon in h3.cell_to_boundary(cell):
        near = lon if not ring else lon + 360 * round((ring[-1][0] - lon) / 360)
        ring.append((near, lat))
    turn = 360 * round((ring[-1][0] - ring[0][0]) / 360)
    if turn:
        pole = 90 if ring[0][1] > 0 else -90
        first = (ring[0][0] + turn, ring[0][1])
        ring += [first, (first[0], pole), (ring[0][0], pole)]
    return ring


def place(cell):
    """The cell between -180 and 180."""
    polygon = Polygon(ring_of(cell))
    world = Polygon([(-180, -90), (180, -90), (180, 90), (-180, 90)])
    parts = [translate(polygon, turn).intersection(world) for turn in (-360, 0, 360)]
    return unary_union([part for part in parts if part.area > 0])


def polygons_of(shape):
    return [part for part in getattr(shape, "geoms", [shape]) if part.geom_type == "Polygon"]


def area(shape):
    return sum(abs(geod.geometry_area_perimeter(part)[0]) for part in polygons_of(shape))


def length(shape):
    lines = [part for part in getattr(shape, "geoms", [shape]) if part.geom_type == "LineString"]
    return sum(geod.geometry_length(part) for part in lines)


def star(lon, lat, size, rays, seed):
    chance = random.Random(seed)
    radii = [size * chance.uniform(0.3, 1) for _ in range(rays)]
    return [
        (
            lon + radii[ray] * math.cos(2 * math.pi * ray / rays),
            lat + radii[ray] * math.sin(2 * math.pi * ray / rays),
        )
        for ray in range(rays)
    ]


def cells_near(shape, resolutions):
    found = set()
    steps = 60
    for part in getattr(shape, "geoms", [shape]):
        west, south, east, north = part.bounds
        for resolution in resolutions:
            for x in range(steps + 1):
                for y in range(steps + 1):
                    lon = west + (east - west) * x / steps
                    lat = south + (north - south) * y / steps
                    found.add(h3.latlng_to_cell(lat, lon, resolution))
    return sorted({near for cell in found for near in h3.grid_disk(cell, 1)})


def main():
    chance = random.Random(7)
    walk = [(10.0, 46.0)]
    for _ in range(60):
        lon, lat = walk[-1]
        walk.append((lon + chance.uniform(-0.1, 0.16), lat + chance.uniform(-0.1, 0.12)))
    hole = [(10.95, 46.95), (11.05, 46.95), (11.05, 47.1), (10.95, 47.1)]
    comb = [(8 + 0.05 * i, 46.4 if i % 2 else 46.05) for i in range(20)] + [(8.95, 46), (8, 46)]
    own = h3.latlng_to_cell(47, 9, 5)
    cases = {
        "line": (LineString(walk), [3, 4, 5, 6]),
        "star": (Polygon(star(11, 47, 0.7, 40, 1), [hole]), [2, 3, 4, 5, 6]),
        "comb": (Polygon(comb), [3, 5, 6]),
        "cell": (Polygon(ring_of(own)), [4, 5, 6]),
        "antimeridian": (
            MultiPolygon(
                [
                    Polygon([(179, -18), (180, -18), (180, -16), (179, -16)]),
                    Polygon([(-180, -18), (-179, -18), (-179, -16), (-180, -16)]),
                ]
            ),
            [2, 3, 4],
        ),
        "pole": (Polygon([(x, 86) for x in range(-180, 181, 5)] + [(180, 90), (-180, 90)]), [1, 2]),
    }
    made = {}
    for name, (shape, resolutions) in cases.items():
        measure = length if name == "line" else area
        cells = {}
        for cell in cells_near(shape, resolutions):
            part = shape.intersection(place(cell))
            value = measure(part)
            if value > 1e-3:
                cells[cell] = value
        made[name] = {"geometry": mapping(shape), "cells": cells}
    target = pathlib.Path(__file__).parent.parent / "test/fixtures/zonal/vector-reference.json"
    target.write_text(json.dumps(made) + "\n")


main()

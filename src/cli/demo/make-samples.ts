import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { MultiPolygon, Polygon } from "geojson";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { unstitchGeometry } from "../../core/serving/unstitch.ts";

export interface Terrain {
  readonly width: number;
  readonly height: number;
  /** Metres above the sea. */
  readonly heights: Float32Array;
}

const octaves = 6;
const lakeLevel = 420;
const highest = 3600;

/**
 * Makes a synthetic landscape: noise in six octaves, each half as wide and half as high, with a
 * lake at the lowest level. The same in every run, so that two runs of the demo can be compared.
 */
export function makeTerrain(width: number, height: number): Terrain {
  const heights = new Float32Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const value = hills((4 * column) / width, (4 * row) / width);
      const metres = 150 + highest * Math.max(0, value - 0.18) ** 1.6;
      heights[row * width + column] = Math.max(lakeLevel, metres);
    }
  }
  return { width, height, heights };
}

function hills(x: number, y: number): number {
  let sum = 0;
  for (let octave = 0; octave < octaves; octave++) {
    const frequency = 2 ** octave;
    const value = smooth(x * frequency + 17 * octave, y * frequency + 31 * octave);
    // Folded at the middle, which makes ridges of the noise's round tops.
    sum += (1 - Math.abs(2 * value - 1)) * 0.5 ** (octave + 1);
  }
  return sum;
}

/** A smooth surface through pseudo-random values on a grid. */
function smooth(x: number, y: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  const [shareX, shareY] = [ease(x - column), ease(y - row)];
  const top = mix(scatter(column, row), scatter(column + 1, row), shareX);
  const bottom = mix(scatter(column, row + 1), scatter(column + 1, row + 1), shareX);
  return mix(top, bottom, shareY);
}

/** A pseudo-random number from 0 to 1 for a point of the grid. */
function scatter(column: number, row: number): number {
  let bits = Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1);
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39);
  return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
}

function ease(share: number): number {
  return share * share * share * (share * (6 * share - 15) + 10);
}

function mix(from: number, to: number, share: number): number {
  return from + share * (to - from);
}

const require = createRequire(import.meta.url);

/** The countries of Natural Earth (public domain) at 1:110 million, as GeoJSON. */
export async function makeBorders(): Promise<Uint8Array> {
  const text = await readFile(require.resolve("world-atlas/countries-110m.json"), "utf8");
  const topology = JSON.parse(text) as Topology<{
    countries: GeometryCollection<{ name: string }>;
  }>;
  const { features } = feature(topology, topology.objects.countries);
  const countries = features.map(({ id, properties, geometry }) => ({
    type: "Feature",
    properties: { iso_number: id ?? null, name: properties.name },
    geometry: unstitchGeometry(geometry as Polygon | MultiPolygon),
  }));
  return Buffer.from(JSON.stringify({ type: "FeatureCollection", features: countries }));
}

/** A vector tile (MVT 2), read by hand. */
import { fields, text, varints } from "./read-protobuf.ts";

export interface TileFeature {
  readonly id: number;
  readonly type: number;
  readonly properties: Record<string, unknown>;
  readonly points: readonly (readonly [number, number])[];
}

export interface TileLayer {
  readonly extent: number;
  readonly features: readonly TileFeature[];
}

export function readTile(bytes: Uint8Array): Record<string, TileLayer> {
  const layers = fields(bytes).filter(([number]) => number === 3);
  return Object.fromEntries(layers.map(([, value]) => readLayer(value as Uint8Array)));
}

function readLayer(bytes: Uint8Array): [string, TileLayer] {
  const all = fields(bytes);
  const every = (wanted: number) =>
    all.filter(([number]) => number === wanted).map(([, value]) => value);
  const keys = every(3).map((value) => text(value as Uint8Array));
  const values = every(4).map((value) => readValue(value as Uint8Array));
  const features = every(2).map((value) => readFeature(value as Uint8Array, keys, values));
  return [text(every(1)[0] as Uint8Array), { extent: (every(5)[0] ?? 4096) as number, features }];
}

function readFeature(bytes: Uint8Array, keys: string[], values: unknown[]): TileFeature {
  const all = new Map(fields(bytes));
  const tags = all.has(2) ? varints(all.get(2) as Uint8Array) : [];
  const properties: Record<string, unknown> = {};
  for (let index = 0; index + 1 < tags.length; index += 2) {
    properties[keys[tags[index]!]!] = values[tags[index + 1]!];
  }
  const points = readGeometry(varints(all.get(4) as Uint8Array));
  return { id: all.get(1) as number, type: all.get(3) as number, properties, points };
}

function readGeometry(numbers: readonly number[]): [number, number][] {
  const points: [number, number][] = [];
  let [x, y] = [0, 0];
  for (let index = 0; index < numbers.length;) {
    const [command, count] = [numbers[index]! & 7, numbers[index]! >> 3];
    index += 1;
    if (command === 7) continue;
    for (let each = 0; each < count; each++, index += 2) {
      x += zigzag(numbers[index]!);
      y += zigzag(numbers[index + 1]!);
      points.push([x, y]);
    }
  }
  return points;
}

function readValue(bytes: Uint8Array): unknown {
  const [number, value] = fields(bytes)[0]!;
  switch (number) {
    case 1:
      return text(value as Uint8Array);
    case 3:
      return new DataView((value as Uint8Array).slice().buffer).getFloat64(0, true);
    case 6:
      return zigzag(value as number);
    case 7:
      return value === 1;
    default:
      return value;
  }
}

function zigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

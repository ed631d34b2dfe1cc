import type { DataType, NodataValue } from "./facts.ts";

/** The types by GDAL's names; GDAL 3.6 has no signed byte. */
const gdalNames: Readonly<Record<DataType, string>> = {
  uint8: "Byte",
  int8: "Int8",
  uint16: "UInt16",
  int16: "Int16",
  uint32: "UInt32",
  int32: "Int32",
  uint64: "UInt64",
  int64: "Int64",
  float32: "Float32",
  float64: "Float64",
  cint16: "CInt16",
  cint32: "CInt32",
  cfloat32: "CFloat32",
  cfloat64: "CFloat64",
};
const byGdalName = new Map(
  Object.entries(gdalNames).map(([type, name]) => [name, type as DataType] as const),
);

export function toGdalType(type: DataType): string {
  return gdalNames[type];
}

export function fromGdalType(name: string): DataType | undefined {
  return byGdalName.get(name);
}

const integerBits: Partial<Readonly<Record<DataType, readonly [bits: number, signed: boolean]>>> = {
  uint8: [8, false],
  int8: [8, true],
  uint16: [16, false],
  int16: [16, true],
  uint32: [32, false],
  int32: [32, true],
  uint64: [64, false],
  int64: [64, true],
};

export function integerRange(type: DataType): { least: number; most: number } | undefined {
  const known = integerBits[type];
  if (known === undefined) return undefined;
  const [bits, isSigned] = known;
  return isSigned
    ? { least: -(2 ** (bits - 1)), most: 2 ** (bits - 1) - 1 }
    : { least: 0, most: 2 ** bits - 1 };
}

export function holdsNumber(type: DataType, value: NodataValue): boolean {
  const range = integerRange(type);
  if (range === undefined) return true;
  return (
    typeof value === "number" &&
    Number.isInteger(value) &&
    value >= range.least &&
    value <= range.most
  );
}

const sizes: Readonly<Record<string, number>> = {
  cint16: 4,
  cint32: 8,
  cfloat32: 8,
  cfloat64: 16,
  float32: 4,
  float64: 8,
};

export function bytesOf(type: DataType): number {
  return (integerBits[type]?.[0] ?? (sizes[type] ?? 8) * 8) / 8;
}

/** The bytes of one pixel in all bands. */
export function pixelBytes(bands: readonly { readonly data_type: DataType }[]): number {
  return bands.reduce((sum, { data_type }) => sum + bytesOf(data_type), 0);
}

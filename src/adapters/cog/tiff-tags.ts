export const tags = {
  subfileType: 254,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  stripOffsets: 273,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripBytes: 279,
  planarConfiguration: 284,
  predictor: 317,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  sampleFormat: 339,
} as const;

/** Bytes of one value by the field's type; what we read are whole numbers only. */
export const typeBytes: ReadonlyMap<number, 1 | 2 | 4 | 8> = new Map([
  [1, 1],
  [3, 2],
  [4, 4],
  [13, 4],
  [16, 8],
  [18, 8],
]);

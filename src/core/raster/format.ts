/**
 * Formats by their first bytes, before GDAL sees the file. Only those that hold their pixels
 * themselves: a virtual raster is a text that tells GDAL which other files to open.
 */
const formats: readonly { readonly driver: string; readonly starts: readonly number[][] }[] = [
  {
    driver: "GTiff",
    starts: [
      [0x49, 0x49, 0x2a, 0x00],
      [0x4d, 0x4d, 0x00, 0x2a],
      [0x49, 0x49, 0x2b, 0x00],
      [0x4d, 0x4d, 0x00, 0x2b],
    ],
  },
  { driver: "PNG", starts: [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]] },
  { driver: "JPEG", starts: [[0xff, 0xd8, 0xff]] },
  {
    driver: "JP2OpenJPEG",
    starts: [
      [0x00, 0x00, 0x00, 0x0c, 0x6a, 0x50, 0x20, 0x20],
      [0xff, 0x4f, 0xff, 0x51],
    ],
  },
  { driver: "HFA", starts: [Array.from("EHFA_HEADER_TAG", (letter) => letter.charCodeAt(0))] },
];

/** GDAL's name of the format, or undefined for everything that is not taken. */
export function detectFormat(firstBytes: Uint8Array): string | undefined {
  const found = formats.find(({ starts }) =>
    starts.some((start) => start.every((byte, index) => firstBytes[index] === byte)),
  );
  return found?.driver;
}

/**
 * Detects the format from the first bytes, before GDAL opens the file. Only formats that contain
 * their pixels are accepted: a virtual raster is a text that makes GDAL open other files.
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

/** GDAL's name of the format; undefined for a format that is not accepted. */
export function detectFormat(firstBytes: Uint8Array): string | undefined {
  const found = formats.find(({ starts }) =>
    starts.some((start) => start.every((byte, index) => firstBytes[index] === byte)),
  );
  return found?.driver;
}

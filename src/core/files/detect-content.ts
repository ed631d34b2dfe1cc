/**
 * Says what a file is by its first bytes. Names do not count: GDAL would open a renamed file by its
 * content, with any of its 200 drivers.
 */
export type Content =
  | { readonly kind: "binary"; readonly name: BinaryName }
  | { readonly kind: "xml"; readonly name: string; readonly root: string }
  | { readonly kind: "json" | "text" | "table" | "unknown"; readonly name: string };

const signatures = {
  GeoTIFF: ["49492a00", "4d4d002a", "49492b00", "4d4d002b"],
  PNG: ["89504e470d0a1a0a"],
  JPEG: ["ffd8ff"],
  "JPEG 2000": ["0000000c6a502020", "ff4fff51"],
  "Erdas Imagine": ["454846415f4845414445525f544147"],
  HDF5: ["894844460d0a1a0a"],
  HDF4: ["0e031301"],
  NetCDF: ["43444601", "43444602", "43444605"],
  GRIB: ["47524942"],
  SQLite: ["53514c69746520666f726d6174203300"],
  Shapefile: ["0000270a"],
  FlatGeobuf: ["666762"],
  Parquet: ["50415231"],
  "zip archive": ["504b0304", "504b0506"],
  "gzip archive": ["1f8b"],
  GIF: ["47494638"],
  PDF: ["25504446"],
} as const satisfies Record<string, readonly string[]>;

export type BinaryName = keyof typeof signatures;

/** RFC 8142 puts this character before each line. */
export const recordSeparator = "\u001e";

/** How many bytes of the beginning `detectContent` needs. */
export const detectedBytes = 4096;

export function detectContent(start: Uint8Array): Content {
  for (const [name, begins] of Object.entries(signatures)) {
    if (begins.some((hex) => startsWith(start, hex))) {
      return { kind: "binary", name: name as BinaryName };
    }
  }
  if (isDbase(start)) return { kind: "table", name: "dBASE table" };
  const text = decodeStart(start);
  if (text === undefined) return { kind: "unknown", name: "binary data of no known format" };
  const root = rootOf(text);
  if (root !== undefined) return { kind: "xml", root, name: nameXml(root) };
  if (text.replaceAll(recordSeparator, "").trimStart().startsWith("{"))
    return { kind: "json", name: "JSON" };
  if (/^(?:\s*999\r?\n[^\n]*\n)*\s*0\s*\r?\nSECTION\b/.test(text)) {
    return { kind: "text", name: "DXF" };
  }
  return { kind: "text", name: "plain text" };
}

/** Its version, and a date of its last change that is possible, then the sizes of header and rows. */
function isDbase(start: Uint8Array): boolean {
  const [version = 0, , month = 0, day = 0] = start;
  if (![0x03, 0x30, 0x83, 0x8b, 0xf5].includes(version) || start.length < 64) return false;
  const header = (start[8] ?? 0) | ((start[9] ?? 0) << 8);
  const row = (start[10] ?? 0) | ((start[11] ?? 0) << 8);
  return month <= 12 && day <= 31 && header >= 65 && row >= 1;
}

function startsWith(bytes: Uint8Array, hex: string): boolean {
  for (let at = 0; at < hex.length; at += 2) {
    if (bytes[at / 2] !== Number.parseInt(hex.slice(at, at + 2), 16)) return false;
  }
  return true;
}

/** Undefined: the bytes are no text in ASCII, Latin-1 or UTF-8. */
function decodeStart(start: Uint8Array): string | undefined {
  const isMarked = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  const bytes = isMarked ? start.subarray(3) : start;
  const isText = bytes.every((byte) => byte >= 0x20 || (byte >= 9 && byte <= 13) || byte === 0x1e);
  return isText ? String.fromCharCode(...bytes) : undefined;
}

/** The name of the first element, without its prefix; empty if it is not in the first bytes. */
function rootOf(text: string): string | undefined {
  if (!/^\s*</.test(text)) return undefined;
  const bare = text.replaceAll(/<!--[\s\S]*?-->|<\?[\s\S]*?\?>/g, "");
  return /^\s*<(?:!DOCTYPE\s+)?(?:[\w.-]+:)?([\w.-]+)/i.exec(bare)?.[1] ?? "";
}

/** What GDAL would make of an XML file, where that is a file that names other places. */
const xmlNames: ReadonlyMap<string, string> = new Map([
  ["VRTDataset", "a virtual raster (VRT)"],
  ["VRTWarpedDataset", "a virtual raster (VRT)"],
  ["OGRVRTDataSource", "a virtual layer (OGR VRT)"],
  ["GDAL_WMS", "a description of a web map (WMS)"],
  ["GDAL_WMTS", "a description of a web map (WMTS)"],
  ["WMT_MS_Capabilities", "a description of a web map (WMS)"],
  ["WMS_Capabilities", "a description of a web map (WMS)"],
  ["TileMapService", "a description of a web map (TMS)"],
  ["TileMap", "a description of a web map (TMS)"],
  ["WCS_GDAL", "a description of a web coverage (WCS)"],
  ["OGRWFSDataSource", "a description of web features (WFS)"],
  ["FeatureCollection", "GML"],
  ["gpx", "GPX"],
  ["rss", "GeoRSS"],
  ["feed", "GeoRSS"],
  ["osm", "OpenStreetMap XML"],
  ["svg", "SVG"],
  ["kml", "KML"],
]);

function nameXml(root: string): string {
  const known = xmlNames.get(root);
  return known ?? (root === "" ? "XML" : `XML with the root element <${root}>`);
}

/** The rasters that are accepted, with the one driver that may open each. */
const rasterDrivers: ReadonlyMap<string, string> = new Map([
  ["GeoTIFF", "GTiff"],
  ["PNG", "PNG"],
  ["JPEG", "JPEG"],
  ["JPEG 2000", "JP2OpenJPEG"],
  ["Erdas Imagine", "HFA"],
  ["NetCDF", "netCDF"],
  ["HDF5", "HDF5"],
  ["HDF4", "HDF4"],
  ["GRIB", "GRIB"],
] satisfies [BinaryName, string][]);

/** GDAL's name of the driver; undefined for content that is not accepted as a raster. */
export function rasterDriverOf(content: Content): string | undefined {
  return content.kind === "binary" ? rasterDrivers.get(content.name) : undefined;
}

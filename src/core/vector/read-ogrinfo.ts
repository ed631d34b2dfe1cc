/**
 * Reads the text that `ogrinfo -so -al` prints. Its JSON cannot be used: GDAL before 3.7, which
 * long-term distributions have, does not print it.
 */
export interface LayerFacts {
  readonly name: string;
  readonly geometryType: string;
  readonly featureCount: number;
  /** Undefined: the file names no CRS, or says that it is unknown. */
  readonly crsWkt: string | undefined;
  readonly geometryColumn: string | undefined;
  /** In the file's own coordinates: smallest x, smallest y, largest x, largest y. */
  readonly extent: readonly [number, number, number, number] | undefined;
  readonly fields: readonly string[];
  /** The types of the fields in their order, such as `Integer64` or `Integer(Boolean)`. */
  readonly types: readonly string[];
  readonly fidColumn: string | undefined;
}

const fieldLine =
  /^(.*): ((?:String|Integer|Integer64|Real|Date|Time|DateTime|Binary|StringList|IntegerList|Integer64List|RealList)(?:\([A-Za-z0-9]+\))?)(?: \(\d+\.\d+\)|\s*$| NOT NULL| UNIQUE| DEFAULT|,)/;

export function readOgrinfo(text: string): LayerFacts[] {
  const [, ...sections] = text.split(/^Layer name: /m);
  return sections.map(readLayer);
}

function readLayer(section: string): LayerFacts {
  const lines = section.split("\n");
  const value = (start: string) =>
    lines
      .find((line) => line.startsWith(start))
      ?.slice(start.length)
      .trim();
  const fields = lines.flatMap((line) => {
    const field = fieldLine.exec(line);
    return field === null ? [] : [field];
  });
  return {
    name: lines[0]?.trim() ?? "",
    geometryType: value("Geometry:") ?? "None",
    featureCount: Number(value("Feature Count:") ?? Number.NaN),
    crsWkt: readCrs(lines),
    geometryColumn: value("Geometry Column ="),
    extent: readExtent(value("Extent:")),
    fields: fields.map((field) => field[1] ?? ""),
    types: fields.map((field) => field[2] ?? ""),
    fidColumn: value("FID Column ="),
  };
}

/** Reads `(-180.000000, -90.000000) - (180.000000, 83.645130)`. */
function readExtent(text = ""): LayerFacts["extent"] {
  const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)].map(Number);
  const [west, south, east, north] = numbers;
  if (west === undefined || south === undefined || east === undefined || north === undefined) {
    return undefined;
  }
  return [west, south, east, north];
}

/** The definition is indented over many lines and ends before the next line without indentation. */
function readCrs(lines: readonly string[]): string | undefined {
  const start = lines.findIndex((line) => line.startsWith("Layer SRS WKT:"));
  if (start < 0) return undefined;
  const [first, ...rest] = lines.slice(start + 1);
  if (first === undefined || first.startsWith("(unknown)")) return undefined;
  const end = rest.findIndex((line) => !/^\s/.test(line));
  const wkt = [first, ...rest.slice(0, end < 0 ? rest.length : end)].join("\n").trim();
  // GeoPackage has names for unknown systems.
  return /^\w+\["Undefined /.test(wkt) ? undefined : wkt;
}

/**
 * The findings about a vector file, in words for its submitter. Every change and every feature that
 * is left out has a finding.
 */
import { z } from "zod";

export const vectorFinding = z.object({
  code: z.string(),
  severity: z.enum(["info", "warning"]),
  message: z.string(),
  /** What the submitter can do about it. */
  remedy: z.string(),
  /** The number of features or columns concerned. */
  count: z.number().int().min(0),
});
export type VectorFinding = z.infer<typeof vectorFinding>;

type Counted = readonly [one: string, many: string];

interface Meaning {
  readonly severity: VectorFinding["severity"];
  /** The text for one and for several, with `#` for the number. */
  readonly text: Counted;
  readonly remedy: string;
}

/** Findings that are counted while the features are read. */
const meanings = {
  GEOMETRY_NULL: {
    severity: "warning",
    text: [
      "One feature has no geometry and was left out.",
      "# features have no geometry and were left out.",
    ],
    remedy: "Give them a geometry in the source, or send them as a plain table.",
  },
  GEOMETRY_EMPTY: {
    severity: "warning",
    text: [
      "One geometry is empty; its feature was left out.",
      "# geometries are empty; their features were left out.",
    ],
    remedy: "Look for them in the source with a test for empty geometries.",
  },
  GEOMETRY_REPAIRED: {
    severity: "warning",
    text: [
      "One geometry was not valid and was repaired.",
      "# geometries were not valid and were repaired.",
    ],
    remedy:
      "Compare them with the source: a repair keeps the outline and may change what is inside.",
  },
  GEOMETRY_COLLAPSED: {
    severity: "warning",
    text: [
      "One geometry was not valid and nothing of its kind is left after repair; its feature was left out.",
      "# geometries were not valid and nothing of their kind is left after repair; their features were left out.",
    ],
    remedy: "They are polygons without area or lines without length: correct them in the source.",
  },
  COORDINATES_NOT_FINITE: {
    severity: "warning",
    text: [
      "One feature has a coordinate that is no number and was left out.",
      "# features have coordinates that are no numbers and were left out.",
    ],
    remedy: "Correct the coordinates in the source.",
  },
  COORDINATES_OUT_OF_RANGE: {
    severity: "warning",
    text: [
      "One feature lies outside of the world and was left out.",
      "# features lie outside of the world and were left out.",
    ],
    remedy:
      "Check the coordinate reference system of the source, and give source_crs if it names a wrong one.",
  },
  FEATURES_UNREADABLE: {
    severity: "warning",
    text: [
      "One feature could not be read or projected and was left out.",
      "# features could not be read or projected and were left out.",
    ],
    remedy: "The task's log has GDAL's own words.",
  },
  DIMENSIONS_REDUCED: {
    severity: "info",
    text: [
      "One geometry had heights or measures; they were left out.",
      "# geometries had heights or measures; they were left out.",
    ],
    remedy: "Keep the height as an attribute if it is needed.",
  },
  ANTIMERIDIAN_SPLIT: {
    severity: "info",
    text: [
      "One geometry crosses the antimeridian and was cut there.",
      "# geometries cross the antimeridian and were cut there.",
    ],
    remedy: "Nothing to do: this is how RFC 7946 wants them.",
  },
  COLLECTION_SPLIT: {
    severity: "info",
    text: [
      "One geometry collects points, lines or polygons; each kind became a row of its own table.",
      "# geometries collect points, lines or polygons; each kind became a row of its own table.",
    ],
    remedy:
      "Nothing to do, unless rows are counted: there are more of them than features in the source.",
  },
  RINGS_REVERSED: {
    severity: "info",
    text: ["The rings of one polygon were reversed.", "The rings of # polygons were reversed."],
    remedy: "Nothing to do: outer rings run counter-clockwise here.",
  },
  CURVES_LINEARISED: {
    severity: "info",
    text: [
      "One geometry has curves; they became straight lines of at most 4° of arc.",
      "# geometries have curves; they became straight lines of at most 4° of arc.",
    ],
    remedy: "Nothing to do: a table holds straight lines. Keep the source if the arcs are needed.",
  },
  TEXT_NUL: {
    severity: "warning",
    text: [
      "A NUL character in a text was replaced, because no database text can hold it.",
      "# NUL characters in texts were replaced, because no database text can hold them.",
    ],
    remedy: "Look at the texts in the source: a NUL is often left over from a fixed-width format.",
  },
  VALUES_BEYOND_COLUMNS: {
    severity: "warning",
    text: [
      "One row has more values than the header has columns; the values beyond the last column were left out.",
      "# rows have more values than the header has columns; the values beyond the last column were left out.",
    ],
    remedy:
      "Put texts that contain the separator into quotes: without them the values that follow are in wrong columns.",
  },
  TEXT_CUT: {
    severity: "warning",
    text: [
      "One text holds a NUL character; it ends before it here.",
      "# texts hold a NUL character; they end before it here.",
    ],
    remedy: "Remove the NUL characters in the source to keep the rest of these texts.",
  },
  INTEGERS_AS_TEXT: {
    severity: "warning",
    text: [
      "One number has more digits than a column of numbers keeps; its column is text here, so that none is lost.",
      "# numbers have more digits than a column of numbers keeps; their columns are text here, so that none is lost.",
    ],
    remedy: "Nothing to do, unless the column is compared as a number: then shorten the numbers.",
  },
  ATTRIBUTES_UNREAD: {
    severity: "warning",
    text: [
      "The attributes of one feature (ExtendedData) were left out: this worker's GDAL reads only names and descriptions from KML.",
      "The attributes of # features (ExtendedData) were left out: this worker's GDAL reads only names and descriptions from KML.",
    ],
    remedy:
      "Submit the data as a GeoPackage, or run a worker whose GDAL has the driver LIBKML (Debian: gdal-bin).",
  },
  DATES_DROPPED: {
    severity: "warning",
    text: [
      "One value of a date column is no date and was left empty.",
      "# values of date columns are no dates and were left empty.",
    ],
    remedy: "Dates must lie between the years 1 and 9999.",
  },
} as const satisfies Record<string, Meaning>;

export type CountedCode = keyof typeof meanings;
const order = Object.keys(meanings) as CountedCode[];

/** Counts findings by code while the features are read. */
export class Tally {
  private readonly counts = new Map<CountedCode, number>();

  add(code: CountedCode, count = 1): void {
    this.counts.set(code, (this.counts.get(code) ?? 0) + count);
  }

  get(code: CountedCode): number {
    return this.counts.get(code) ?? 0;
  }

  findings(): VectorFinding[] {
    return order.flatMap((code) => {
      const count = this.get(code);
      if (count === 0) return [];
      const { severity, text, remedy } = meanings[code];
      const message = count === 1 ? text[0] : text[1].replace("#", String(count));
      return [{ code, severity, message, remedy, count }];
    });
  }
}

export function emptyColumnsFinding(names: readonly string[]): VectorFinding[] {
  if (names.length === 0) return [];
  return [
    {
      code: "COLUMNS_EMPTY",
      severity: "info",
      message: `${listOf(names)} ${names.length === 1 ? "holds" : "hold"} nothing and ${names.length === 1 ? "was" : "were"} left out.`,
      remedy: "Nothing to do, unless a value was expected there.",
      count: names.length,
    },
  ];
}

export function renamedColumnsFinding(
  columns: readonly { readonly source: string; readonly name: string }[],
): VectorFinding[] {
  const renamed = columns.filter(({ source, name }) => source.toLowerCase() !== name);
  if (renamed.length === 0) return [];
  return [
    {
      code: "COLUMNS_RENAMED",
      severity: "info",
      message: `Columns have other names here: ${listOf(renamed.map(({ source, name }) => `${source} → ${name}`))}.`,
      remedy: "Use the new names in filters and styles.",
      count: renamed.length,
    },
  ];
}

/** Values that are not of the type that their column declares. */
export function misdeclaredColumnsFinding(
  columns: readonly { readonly name: string; readonly type: string }[],
): VectorFinding[] {
  if (columns.length === 0) return [];
  const changed = listOf(columns.map(({ name, type }) => `${name} → ${type}`));
  return [
    {
      code: "COLUMN_TYPES_CHANGED",
      severity: "warning",
      message: `Columns hold values that their declared types cannot hold; so that none is lost, they have other types here: ${changed}.`,
      remedy: "Look at the values of these columns in the source, and correct them or their types.",
      count: columns.length,
    },
  ];
}

/** Columns of fractions and of integers of more than 53 bits, which no real number holds exactly. */
export function roundedColumnsFinding(
  columns: readonly { readonly source: string }[],
): VectorFinding[] {
  if (columns.length === 0) return [];
  return [
    {
      code: "INTEGERS_ROUNDED",
      severity: "warning",
      message: `Columns hold fractions and integers beyond 2^53, which are rounded to 15 digits here: ${listOf(columns.map(({ source }) => source))}.`,
      remedy: "Write the values of these columns as texts, if every digit is needed.",
      count: columns.length,
    },
  ];
}

export function splitTablesFinding(tables: readonly string[]): VectorFinding[] {
  if (tables.length < 2) return [];
  return [
    {
      code: "GEOMETRY_TYPES_SPLIT",
      severity: "info",
      message: `The file mixes geometry types; each has a table of its own: ${tables.join(", ")}.`,
      remedy: "Nothing to do: a map draws them as separate layers.",
      count: tables.length,
    },
  ];
}

/** The number that a file's header claims is not the number of its features. */
export function countClaimedFinding(claimed: number, found: number): VectorFinding {
  return {
    code: "FEATURE_COUNT_WRONG",
    severity: "warning",
    message: `The file says that it holds ${claimed} features, and it holds ${found}.`,
    remedy:
      "Compare with the source: the file may have been cut off, or written by a faulty program.",
    count: 1,
  };
}

/** What is to be said of the operation to WGS 84. */
export function transformationFinding(code: string, message: string): VectorFinding {
  return {
    code,
    severity: "warning",
    message,
    remedy:
      code === "TRANSFORMATION_GRID_MISSING"
        ? "Install the grids on the worker (Debian: proj-data) if metres matter; otherwise nothing to do."
        : "Compare the layer with a map. If it lies elsewhere, transform the file yourself, and submit it in WGS 84.",
    count: 1,
  };
}

/** Findings of one layer of several name it. */
export function ofLayer(layer: string, findings: readonly VectorFinding[]): VectorFinding[] {
  return findings.map((finding) => ({ ...finding, message: `${layer}: ${finding.message}` }));
}

export function emptyLayersFinding(names: readonly string[]): VectorFinding[] {
  if (names.length === 0) return [];
  return [
    {
      code: "LAYERS_EMPTY",
      severity: "info",
      message: `These layers hold nothing that a map can show and were left out: ${listOf(names)}.`,
      remedy: "Nothing to do, unless features were expected there.",
      count: names.length,
    },
  ];
}

/** Files of an archive beside those that were loaded. */
export function unreadFilesFinding(names: readonly string[]): VectorFinding[] {
  if (names.length === 0) return [];
  return [
    {
      code: "FILES_UNREAD",
      severity: "info",
      message: `The archive also holds files that were not read: ${listOf(names)}.`,
      remedy: "Nothing to do if they only describe the data; otherwise send them by themselves.",
      count: names.length,
    },
  ];
}

export function crsAssignedFinding(crs: string): VectorFinding {
  return {
    code: "CRS_ASSIGNED",
    severity: "warning",
    message: `The file names no coordinate reference system; it was read as ${crs}, as asked.`,
    remedy: "Look at the layer on the map: if it lies elsewhere, another source_crs is needed.",
    count: 1,
  };
}

export function crsAssumedFinding(crs: string): VectorFinding {
  return {
    code: "CRS_ASSUMED",
    severity: "warning",
    message: `The file names no coordinate reference system; its columns are called longitude and latitude, so ${crs} was assumed.`,
    remedy: "Give source_crs if this is wrong.",
    count: 1,
  };
}

export function encodingFinding(encoding: string, isGuess: boolean): VectorFinding {
  return {
    code: isGuess ? "ENCODING_GUESSED" : "ENCODING_ASSIGNED",
    severity: isGuess ? "warning" : "info",
    message: isGuess
      ? `The file does not say how its text is encoded; it looks like ${encoding}.`
      : `Text was read as ${encoding}, as asked.`,
    remedy: "Look at names with accents; give encoding if they are wrong.",
    count: 1,
  };
}

/** Lists a few names, or the first ones and the number of the rest. */
function listOf(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

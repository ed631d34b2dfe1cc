/**
 * When a raster was taken. What is given counts; then what the file says; and otherwise nobody knows.
 * "Now" would be a lie that every search by time repeats, and STAC allows no open span: so an unknown
 * time is the span from before there were any such data until the file was there.
 */

export interface GivenTime {
  readonly datetime?: string | undefined;
  readonly start_datetime?: string | undefined;
  readonly end_datetime?: string | undefined;
}

export interface ItemTime {
  readonly datetime: string | null;
  readonly start_datetime?: string;
  readonly end_datetime?: string;
  /** Where the time comes from. */
  readonly "rmhdag:datetime_source": "given" | "file" | "unknown";
}

/** Older than any photograph. */
const beforeEverything = "1800-01-01T00:00:00Z";

export function chooseTime(
  given: GivenTime,
  metadata: Readonly<Record<string, string>>,
  writtenAt: string,
): ItemTime {
  const { datetime, start_datetime, end_datetime } = given;
  if (start_datetime !== undefined && end_datetime !== undefined) {
    const span = { start_datetime, end_datetime };
    return { datetime: datetime ?? null, ...span, "rmhdag:datetime_source": "given" };
  }
  if (datetime !== undefined) return { datetime, "rmhdag:datetime_source": "given" };
  const read = readFileTime(metadata);
  if (read !== undefined) return { datetime: read, "rmhdag:datetime_source": "file" };
  return {
    datetime: null,
    start_datetime: beforeEverything,
    end_datetime: writtenAt,
    "rmhdag:datetime_source": "unknown",
  };
}

/** `2020:06:01 10:20:30`, as the TIFF standard has it; the file names no zone, so it is read as UTC. */
const tiffTime = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/;

function readFileTime(metadata: Readonly<Record<string, string>>): string | undefined {
  for (const key of ["ACQUISITIONDATETIME", "TIFFTAG_DATETIME"]) {
    const text = Object.hasOwn(metadata, key) ? metadata[key]! : "";
    const [, year, month, day, hour, minute, second] = tiffTime.exec(text) ?? [];
    if (year === undefined) continue;
    const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
    if (!Number.isNaN(Date.parse(iso))) return iso;
  }
  return undefined;
}

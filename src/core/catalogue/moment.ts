/**
 * The time of a raster: the given time, or else the time in the file, or else unknown. Using the
 * current time would make every search by time wrong, and STAC does not allow an open span. So an
 * unknown time is the span from before any such data existed until the file was written.
 */

export interface GivenTime {
  readonly datetime?: string | null | undefined;
  readonly start_datetime?: string | null | undefined;
  readonly end_datetime?: string | null | undefined;
}

export interface ItemTime {
  readonly datetime: string | null;
  readonly start_datetime?: string;
  readonly end_datetime?: string;
  /** Where the time comes from. */
  readonly "rmhdag:datetime_source": "given" | "file" | "unknown";
}

/** Earlier than any photograph. */
const beforeEverything = "1800-01-01T00:00:00Z";

export function chooseTime(
  given: GivenTime,
  /** The time in the file's metadata. */
  fromFile: string | null,
  writtenAt: string,
): ItemTime {
  const { datetime, start_datetime, end_datetime } = given;
  if (start_datetime != null && end_datetime != null) {
    const span = { start_datetime, end_datetime };
    return { datetime: datetime ?? null, ...span, "rmhdag:datetime_source": "given" };
  }
  if (datetime != null) return { datetime, "rmhdag:datetime_source": "given" };
  if (fromFile !== null) return { datetime: fromFile, "rmhdag:datetime_source": "file" };
  return {
    datetime: null,
    start_datetime: beforeEverything,
    end_datetime: writtenAt,
    "rmhdag:datetime_source": "unknown",
  };
}

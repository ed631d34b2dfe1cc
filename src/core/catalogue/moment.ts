/**
 * The time of a raster: the given time, or else the time in the file, or else unknown. STAC requires
 * a time; a span over all times would be found by every search. So an unknown time is the moment at
 * which the file was written, and the item says that it is not when the data was taken.
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

export function chooseTime(
  given: GivenTime,
  /** The time in the file's metadata. */
  fromFile: string | null,
  writtenAt: string,
  /** The first and the last time of a file whose bands are of several times. */
  span?: readonly [string, string],
): ItemTime {
  const { datetime, start_datetime, end_datetime } = given;
  if (start_datetime != null && end_datetime != null) {
    const span = { start_datetime, end_datetime };
    return { datetime: datetime ?? null, ...span, "rmhdag:datetime_source": "given" };
  }
  if (datetime != null) return { datetime, "rmhdag:datetime_source": "given" };
  if (span !== undefined) {
    const [start, end] = span;
    const times = { start_datetime: start, end_datetime: end };
    return { datetime: null, ...times, "rmhdag:datetime_source": "file" };
  }
  if (fromFile !== null) return { datetime: fromFile, "rmhdag:datetime_source": "file" };
  return { datetime: writtenAt, "rmhdag:datetime_source": "unknown" };
}

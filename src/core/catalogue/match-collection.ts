/** Whether a collection matches a search: by space, by time, and by words. */
import type { Box } from "../geometry/boxes.ts";
import { boxesOf } from "../geometry/boxes.ts";
import { bboxSchema } from "../geometry/geometry.ts";
import { readInterval, refuse } from "./query-parameters.ts";
import type { StacCollection } from "./stac.ts";

export interface CollectionSearch {
  readonly bbox?: readonly number[] | undefined;
  readonly datetime?: string | undefined;
  readonly q?: string | undefined;
}

export function matchCollection(search: CollectionSearch): (collection: StacCollection) => boolean {
  const boxes = search.bbox === undefined ? undefined : boxesOf(readBox(search.bbox));
  const { start, end } = readInterval(search.datetime);
  const words = (search.q ?? "")
    .split(",")
    .map((part) => part.trim().toLowerCase().split(/\s+/).filter(Boolean))
    .filter((part) => part.length > 0);
  return (collection) => {
    const { spatial, temporal } = collection.extent;
    const covered = spatial.bbox.flatMap((box) => boxesOf(readBox(box)));
    const isThere = boxes?.some((box) => covered.some((each) => overlap(box, each))) ?? true;
    const isThen = temporal.interval.some(
      ([from, to]) =>
        (end === undefined || from == null || Date.parse(from) <= Date.parse(end)) &&
        (start === undefined || to == null || Date.parse(to) >= Date.parse(start)),
    );
    const text = textOf(collection);
    const isMeant =
      words.length === 0 || words.some((part) => part.every((word) => text.includes(word)));
    return isThere && isThen && isMeant;
  };
}

function readBox(bbox: readonly number[]) {
  const flat = bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  const parsed = bboxSchema.safeParse(flat);
  if (parsed.success) return parsed.data;
  throw refuse("bbox", "must be west, south, east, north in degrees");
}

function overlap(a: Box, b: Box): boolean {
  return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
}

function textOf({ id, title, description, keywords }: StacCollection): string {
  const words = Array.isArray(keywords) ? keywords : [];
  return [id, title ?? "", description, ...words].join("\n").toLowerCase();
}

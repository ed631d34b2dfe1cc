import { version } from "../../../adapters/runtime/version.ts";
import { bboxOf } from "../../../core/geometry/boxes.ts";
import type { Footprint } from "../../../core/catalogue/footprint.ts";
import { simpleGeometry } from "../../../core/geometry/geometry.ts";
import { stacItem } from "../../../core/catalogue/stac.ts";
import type { GivenTime } from "../../../core/catalogue/moment.ts";
import { chooseTime } from "../../../core/catalogue/moment.ts";
import { buildRasterItem } from "../../../core/catalogue/raster-item.ts";
import { chooseRender } from "../../../core/catalogue/render.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { firstIssueText } from "../../../core/model/issue-text.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { StoredRaster } from "./describe-raster.ts";

/** What a task's parameters say about an item. */
export interface ItemRequest extends GivenTime {
  readonly collection_id: string;
  readonly item_id: string;
  readonly title?: string | null | undefined;
  readonly properties?: JsonObject | null | undefined;
  readonly platform?: Readonly<Record<string, string>> | null | undefined;
  readonly source_path?: string | null | undefined;
  readonly lineage?: string | null | undefined;
  readonly render?: JsonObject | null | undefined;
}

/** Builds the item of one raster or of its tiles, and checks it against the STAC schema. */
export function buildItem(
  { gdal }: HandlerContext,
  request: ItemRequest,
  files: readonly StoredRaster[],
  footprint: Footprint,
  visual?: StoredRaster,
): StacItem {
  const [first] = files;
  if (first === undefined) throw new Error("an item without a file");
  const { source_path: source } = request;
  const item = buildRasterItem({
    ...request,
    footprint,
    time: chooseTime(request, first.facts.datetime, first.written_at, first.facts.time_span),
    files,
    visual,
    render: request.render ?? chooseRender(first.facts),
    processing: {
      datetime: first.written_at,
      software: { rmhdagmaster: version, GDAL: gdal.version },
      lineage: request.lineage ?? (source == null ? undefined : `Made from ${source}.`),
      derived_from: source,
    },
  });
  return checkItem(item);
}

export function checkItem(item: unknown): StacItem {
  const checked = stacItem.safeParse(item);
  if (checked.success) return checked.data;
  const text = `The item cannot be catalogued: ${firstIssueText(checked.error)}`;
  throw new PermanentError(text, { code: "ITEM_INVALID" });
}

/**
 * The footprint that a task's parameters give instead of the computed one, such as that of the
 * valid pixels.
 */
export function givenFootprint(geometry: unknown): Footprint {
  const parsed = simpleGeometry.safeParse(geometry);
  if (parsed.success) return { geometry: parsed.data, bbox: bboxOf(parsed.data) };
  throw new PermanentError("The geometry is not a GeoJSON geometry in longitude and latitude.", {
    code: "GEOMETRY_INVALID",
  });
}

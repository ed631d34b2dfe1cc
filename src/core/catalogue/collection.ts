import type { Coverage } from "./extent.ts";
import { bboxOfCoverage } from "./extent.ts";
import { stacVersion } from "./stac.ts";
import type { StacCollection } from "./stac.ts";

export interface CollectionFacts {
  readonly collection_id: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly license: string;
  readonly keywords?: readonly string[] | null | undefined;
}

/**
 * The extent of a collection without items: STAC requires an extent and does not allow an empty
 * one.
 */
const everything: StacCollection["extent"] = {
  spatial: { bbox: [[-180, -90, 180, 90]] },
  temporal: { interval: [[null, null]] },
};

export function buildCollection(facts: CollectionFacts): StacCollection {
  const { collection_id, title, description, license, keywords } = facts;
  return {
    type: "Collection",
    stac_version: stacVersion,
    stac_extensions: [],
    id: collection_id,
    ...(title == null ? {} : { title }),
    description: description ?? title ?? `The collection ${collection_id}.`,
    ...(keywords == null ? {} : { keywords: [...keywords] }),
    license,
    extent: everything,
    links: [],
  };
}

export function extentOf(coverage: Coverage | null): StacCollection["extent"] {
  if (coverage === null) return everything;
  return {
    spatial: { bbox: [[...bboxOfCoverage(coverage)]] },
    temporal: { interval: [[coverage.start, coverage.end]] },
  };
}

import { useMemo } from "react";
import type { MapLayer } from "../map/layer.ts";
import { LazyMap } from "../map/lazy-map.tsx";
import { setQuery } from "../shared/navigation.tsx";
import { boxOf } from "./boxes.ts";
import { text } from "./items.tsx";

export interface Extent {
  readonly id: string;
  readonly title: string;
  readonly bbox: readonly number[];
}

/** Where the collections lie; a click opens one. */
export function Extents({ collections }: { collections: readonly Extent[] }) {
  const layers = useMemo(
    (): MapLayer[] => [
      {
        kind: "outlines",
        id: "extents",
        data: {
          type: "FeatureCollection",
          features: collections.map(({ id, title, bbox }) => ({
            type: "Feature",
            properties: { key: id, title },
            geometry: boxOf(bbox),
          })),
        },
      },
    ],
    [collections],
  );
  return (
    <div className="map-box">
      <LazyMap
        label="Where the collections lie"
        layers={layers}
        onPick={({ properties: [first] }) => {
          const key = text(first?.["key"]);
          if (key !== undefined) setQuery({ collection: key });
        }}
      />
    </div>
  );
}

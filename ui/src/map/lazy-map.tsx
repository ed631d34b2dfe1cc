import { Suspense, lazy } from "react";
import { Loading } from "../shared/states.tsx";
import type { MapViewProps } from "./map-view.tsx";

/** The map is the largest part of all, and most pages have none. */
const MapView = lazy(() => import("./map-view.tsx"));

export function LazyMap(props: MapViewProps) {
  return (
    <Suspense fallback={<Loading what="the map" />}>
      <MapView {...props} />
    </Suspense>
  );
}

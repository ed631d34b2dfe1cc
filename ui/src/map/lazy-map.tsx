import { Suspense, lazy } from "react";
import { Loading } from "../shared/states.tsx";
import type { MapViewProps } from "./map-view.tsx";

/** The map library is the largest file of the console; it is loaded when a map is first shown. */
const MapView = lazy(() => import("./map-view.tsx"));

export function LazyMap(props: MapViewProps) {
  return (
    <Suspense fallback={<Loading what="the map" />}>
      <MapView {...props} />
    </Suspense>
  );
}

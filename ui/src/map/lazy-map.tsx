import { Suspense, lazy } from "react";
import { JsonView } from "../shared/json-view.tsx";
import { Card } from "../shared/page.tsx";
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

/** The values or attributes at the point that was clicked on a map. */
export function PickedValues({ values }: { values: unknown }) {
  return (
    <Card title="Values at a point">
      {values === undefined ? (
        <p className="dim">Click on the layer to read its values or attributes.</p>
      ) : (
        <JsonView value={values} label="values" />
      )}
    </Card>
  );
}

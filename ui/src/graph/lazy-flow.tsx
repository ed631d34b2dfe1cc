import { lazy, Suspense } from "react";
import { Loading } from "../shared/states.tsx";
import type { FlowProps } from "./flow.tsx";

/** The drawing library is loaded when a graph is first shown. */
const Flow = lazy(() => import("./flow.tsx"));

export function LazyFlow(props: FlowProps) {
  return (
    <Suspense fallback={<Loading what="the graph" />}>
      <Flow {...props} />
    </Suspense>
  );
}

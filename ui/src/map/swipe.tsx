import type { Map as MapLibre } from "maplibre-gl";
import { useEffect, useState } from "react";
import type { MapLayer } from "./layer.ts";
import { LazyMap } from "./lazy-map.tsx";
import type { Picked } from "./map-view.tsx";

/** Two maps on top of each other that move together; the slider cuts the upper one. */
export function SwipeMap({
  before,
  after,
  bounds,
  onPick,
}: {
  before: { readonly name: string; readonly layers: readonly MapLayer[] };
  after: { readonly name: string; readonly layers: readonly MapLayer[] };
  bounds: readonly [number, number, number, number] | undefined;
  onPick?: ((picked: Picked) => void) | undefined;
}) {
  const [share, setShare] = useState(50);
  const [lower, setLower] = useState<MapLibre>();
  const [upper, setUpper] = useState<MapLibre>();

  useEffect(() => {
    if (lower === undefined || upper === undefined) return;
    // Only the upper map receives the pointer, so the lower one follows it.
    const follow = () => {
      lower.jumpTo({ center: upper.getCenter(), zoom: upper.getZoom() });
    };
    follow();
    upper.on("move", follow);
    return () => {
      upper.off("move", follow);
    };
  }, [lower, upper]);

  return (
    <div className="map-box">
      <LazyMap label={before.name} layers={before.layers} onMap={setLower} />
      <div className="map" style={{ clipPath: `inset(0 0 0 ${share}%)` }}>
        <LazyMap
          label={after.name}
          layers={after.layers}
          bounds={bounds}
          onPick={onPick}
          onMap={setUpper}
        />
      </div>
      <div className="swipe">
        <span className="swipe-label" style={{ left: 10 }}>
          {before.name}
        </span>
        <span className="swipe-label" style={{ right: 52 }}>
          {after.name}
        </span>
        <span className="swipe-line" style={{ left: `${share}%` }} />
        <input
          type="range"
          min={0}
          max={100}
          value={share}
          aria-label={`How much of ${before.name} is shown`}
          onChange={(event) => {
            setShare(Number(event.target.value));
          }}
        />
      </div>
    </div>
  );
}

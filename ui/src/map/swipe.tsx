import type { Map as MapLibre } from "maplibre-gl";
import { useEffect, useRef, useState } from "react";
import type { MapLayer } from "./layer.ts";
import { LazyMap } from "./lazy-map.tsx";
import type { Picked } from "./map-view.tsx";

interface Side {
  readonly name: string;
  /** What of it is shown. Unlike another name it leaves the map as it is. */
  readonly detail?: string | undefined;
  readonly layers: readonly MapLayer[];
  readonly onPick: (picked: Picked) => void;
}

/**
 * Two maps on top of each other that move together. The line cuts the upper one: the pointer moves
 * the lower map on its left and the upper map on its right. The line can be dragged; the slider below
 * does the same for the keyboard.
 */
export function SwipeMap({
  before,
  after,
  bounds,
}: {
  before: Side;
  after: Side;
  bounds: readonly [number, number, number, number] | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(50);
  const [lower, setLower] = useState<MapLibre>();
  const [upper, setUpper] = useState<MapLibre>();

  function drag(x: number): void {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {};
    setShare(Math.min(Math.max(((x - left) / width) * 100, 0), 100));
  }

  useEffect(() => {
    if (lower === undefined || upper === undefined) return;
    lower.jumpTo({ center: upper.getCenter(), zoom: upper.getZoom() });
    return linkMaps(upper, lower);
  }, [lower, upper]);

  return (
    <div ref={box} className="map-box">
      <LazyMap label={before.name} layers={before.layers} onPick={before.onPick} onMap={setLower} />
      <div className="map" style={{ clipPath: `inset(0 0 0 ${share}%)` }}>
        <LazyMap
          label={after.name}
          layers={after.layers}
          bounds={bounds}
          onPick={after.onPick}
          onMap={setUpper}
        />
      </div>
      <div className="swipe">
        <span className="swipe-label" style={{ left: 10 }}>
          {captionOf(before)}
        </span>
        <span className="swipe-label" style={{ right: 52 }}>
          {captionOf(after)}
        </span>
        <span
          className="swipe-line"
          style={{ left: `${share}%` }}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={(event) => {
            if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event.clientX);
          }}
        />
        <input
          type="range"
          min={0}
          max={100}
          value={Math.round(share)}
          aria-label={`How much of ${before.name} is shown`}
          onChange={(event) => {
            setShare(Number(event.target.value));
          }}
        />
      </div>
    </div>
  );
}

const captionOf = ({ name, detail }: Side) => (detail === undefined ? name : `${name} · ${detail}`);

/** Makes each map follow the other. `jumpTo` fires `move` at once, which must not be followed again. */
function linkMaps(one: MapLibre, other: MapLibre): () => void {
  let following = false;
  const link = (leader: MapLibre, follower: MapLibre) => {
    const follow = () => {
      if (following) return;
      following = true;
      follower.jumpTo({ center: leader.getCenter(), zoom: leader.getZoom() });
      following = false;
    };
    leader.on("move", follow);
    return () => leader.off("move", follow);
  };
  const unlink = [link(one, other), link(other, one)];
  return () => {
    for (const each of unlink) each();
  };
}

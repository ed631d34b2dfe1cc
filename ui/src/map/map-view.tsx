import { Map as MapLibre, NavigationControl, ScaleControl, setWorkerUrl } from "maplibre-gl";
import "maplibre-gl/dist/maplibre-gl.css";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url";
import { useEffect, useRef, useState } from "react";
import { useStore } from "../shared/store.ts";
import { theme } from "../shared/theme.ts";
import { baseStyle } from "./base-style.ts";
import type { MapLayer } from "./layer.ts";
import { pickable, showLayers } from "./show-layers.ts";

setWorkerUrl(workerUrl);

export interface Picked {
  readonly lng: number;
  readonly lat: number;
  /** The box around the point in which a feature counts as clicked: west, south, east, north. */
  readonly near: readonly [number, number, number, number];
  /** The properties of the features at the point, the topmost first. */
  readonly properties: readonly Readonly<Record<string, unknown>>[];
}

export interface MapViewProps {
  readonly label: string;
  readonly layers: readonly MapLayer[];
  /** The map moves here when the value changes. */
  readonly bounds?: readonly [number, number, number, number] | undefined;
  readonly onPick?: ((picked: Picked) => void) | undefined;
  readonly onMap?: ((map: MapLibre | undefined) => void) | undefined;
}

/** Pixels around a click: a country is smaller than a pointer when the whole world is shown. */
const reach = 6;

/** The features at a point, or near it if there is none. */
function featuresAt(map: MapLibre, { x, y }: { readonly x: number; readonly y: number }) {
  const options = { layers: pickable(map) };
  const exact = map.queryRenderedFeatures([x, y], options);
  if (exact.length > 0) return exact;
  const box: [[number, number], [number, number]] = [
    [x - reach, y - reach],
    [x + reach, y + reach],
  ];
  return map.queryRenderedFeatures(box, options);
}

export default function MapView({ label, layers, bounds, onPick, onMap }: MapViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [map, setMap] = useState<MapLibre>();
  const currentTheme = useStore(theme);
  const latest = useRef({ onPick, onMap });
  latest.current = { onPick, onMap };

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const unmounted = new AbortController();
    let made: MapLibre | undefined;
    void baseStyle().then((style) => {
      if (unmounted.signal.aborted) return;
      made = new MapLibre({
        container: element,
        style,
        center: [10, 25],
        zoom: 1,
        maxZoom: 22,
        attributionControl: false,
        dragRotate: false,
        fadeDuration: 0,
      });
      made.addControl(new NavigationControl({ showCompass: false }), "top-right");
      made.addControl(new ScaleControl(), "bottom-left");
      made.getCanvas().setAttribute("aria-label", label);
      const ready = made;
      ready.on("load", () => {
        setMap(ready);
        latest.current.onMap?.(ready);
      });
      // The tests wait for this mark: all tiles are loaded and drawn.
      ready.on("idle", () => {
        element.dataset["idle"] = "true";
      });
      ready.on("dataloading", () => {
        delete element.dataset["idle"];
      });
      ready.on("click", ({ point, lngLat }) => {
        const found = featuresAt(ready, point);
        const { lng: west, lat: north } = ready.unproject([point.x - reach, point.y - reach]);
        const { lng: east, lat: south } = ready.unproject([point.x + reach, point.y + reach]);
        latest.current.onPick?.({
          near: [west, south, east, north],
          lng: lngLat.lng,
          lat: lngLat.lat,
          properties: found.map(({ properties }) => properties),
        });
      });
    });
    return () => {
      unmounted.abort();
      setMap(undefined);
      latest.current.onMap?.(undefined);
      made?.remove();
    };
  }, [label, currentTheme]);

  useEffect(() => {
    if (map !== undefined) showLayers(map, layers);
  }, [map, layers]);

  const key = bounds?.join(",");
  useEffect(() => {
    if (map === undefined || key === undefined) return;
    const [west = -180, south = -85, east = 180, north = 85] = key.split(",").map(Number);
    // A box across the antimeridian ends east of 180 degrees.
    const right = west > east ? east + 360 : east;
    map.fitBounds([west, Math.max(south, -85), right, Math.min(north, 85)], {
      padding: 40,
      maxZoom: 17,
      duration: 0,
    });
  }, [map, key]);

  return <div ref={box} className="map" role="application" aria-label={label} />;
}

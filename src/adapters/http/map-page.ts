import type { Layer } from "../../core/serving/layer.ts";
import { Answer } from "./handler.ts";

/**
 * A layer on a map. The page has no script of its own in it: everything comes as files from this
 * server, and nothing may come from elsewhere.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
].join("; ");

export interface MapPageOptions {
  /** What a proxy puts before every path. */
  readonly prefix: string;
  /** Where the layer's addresses hang. */
  readonly base: string;
  /** What the page was asked for, to pass on to the tiles. */
  readonly query: string;
}

export function mapPage(layer: Layer, { prefix, base: path, query }: MapPageOptions): Answer {
  const { kind, title, bounds, style } = layer;
  const base = `${prefix}${path}`;
  const tilejson = `${base}/WebMercatorQuad/tilejson.json${query}`;
  const shown = {
    kind: kind === "mosaic" ? "raster" : kind,
    title,
    bounds,
    style: style?.vector ?? null,
    base,
    tilejson,
  };
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="${prefix}/map/maplibre-gl.css"><link rel="stylesheet" href="${prefix}/map/map.css">
<script type="module" src="${prefix}/map/map.js"></script></head><body>
<div id="map" role="application" aria-label="Map of ${escape(title)}" data-layer="${escape(JSON.stringify(shown))}"></div>
<section id="panel"><h1>${escape(title)}</h1>
<label>Opacity <input id="opacity" type="range" min="0" max="100" value="100"></label>
<p id="value" aria-live="polite">Click the map to read it.</p></section>
<noscript>This page needs JavaScript.</noscript>
</body></html>
`;
  return new Answer(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "private, no-cache",
    },
  });
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

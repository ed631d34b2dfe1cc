import type { Layer } from "../../core/serving/layer.ts";
import { escapeHtml } from "./docs-page.ts";
import { Answer } from "./handler.ts";

/**
 * The page that shows a layer on a map. It has no script inside, and its policy allows files of this
 * server only.
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
  /** The path that a proxy puts before every path. */
  readonly prefix: string;
  /** The path below which the layer's addresses are. */
  readonly base: string;
  /** The query of the page, which the tiles get too. */
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
    query,
  };
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="${prefix}/map/maplibre-gl.css"><link rel="stylesheet" href="${prefix}/map/map.css">
<script type="module" src="${prefix}/map/map.js"></script></head><body>
<div id="map" role="application" aria-label="Map of ${escapeHtml(title)}" data-layer="${escapeHtml(JSON.stringify(shown))}"></div>
<section id="panel"><h1>${escapeHtml(title)}</h1>
<label>Opacity <input id="opacity" type="range" min="0" max="100" value="100"></label>
<div id="value" aria-live="polite">Click the map to read it.</div></section>
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

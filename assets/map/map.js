// The map page of a layer. Everything comes from this server: no key, no tiles of anybody else.
import * as maplibre from "./maplibre-gl.mjs";

maplibre.setWorkerUrl(new URL("./maplibre-gl-worker.mjs", import.meta.url).href);

const holder = document.getElementById("map");
const layer = JSON.parse(holder.dataset.layer);
const value = document.getElementById("value");
const opacity = document.getElementById("opacity");

const map = new maplibre.Map({
  container: holder,
  style: {
    version: 8,
    sources: { land: { type: "geojson", data: new URL("./land.json", import.meta.url).href } },
    layers: [
      { id: "sea", type: "background", paint: { "background-color": "#dde6ee" } },
      { id: "land", type: "fill", source: "land", paint: { "fill-color": "#f6f4ee" } },
      { id: "coast", type: "line", source: "land", paint: { "line-color": "#b9c3cc" } },
    ],
  },
  bounds: viewOf(layer.bounds),
  fitBoundsOptions: { padding: 32, maxZoom: 18 },
  attributionControl: false,
  renderWorldCopies: true,
});
map.addControl(new maplibre.NavigationControl({ visualizePitch: false }));
map.addControl(new maplibre.ScaleControl());
map.on("error", ({ error }) => say(`The map has a problem: ${error?.message ?? "unknown"}`));
map.once("load", () => {
  show().catch((error) => say(`The layer cannot be shown: ${error.message}`));
});
// For tests, and for whoever looks with the browser's tools.
map.once("idle", () => {
  holder.dataset.state = "idle";
});

async function show() {
  const tilejson = await getJson(layer.tilejson);
  if (layer.kind === "raster") showRaster(tilejson);
  else showVector(tilejson);
}

function showRaster(tilejson) {
  const { tiles, minzoom, maxzoom, bounds } = tilejson;
  // Below its own lowest zoom a tile is small work, so the layer never vanishes.
  map.addSource("layer", {
    type: "raster",
    tileSize: 256,
    tiles,
    minzoom: Math.min(minzoom, 4),
    maxzoom,
    bounds,
  });
  map.addLayer({
    id: "layer",
    type: "raster",
    source: "layer",
    paint: { "raster-fade-duration": 0 },
  });
  opacity.addEventListener("input", () => {
    map.setPaintProperty("layer", "raster-opacity", Number(opacity.value) / 100);
  });
  map.on("click", async ({ lngLat }) => {
    const { lng, lat } = lngLat.wrap();
    say("…");
    try {
      const found = await getJson(`${layer.base}/point/${lng.toFixed(6)},${lat.toFixed(6)}`);
      const parts = found.values.map(
        (each, index) => `${found.band_names[index]} ${each === null ? "nothing" : round(each)}`,
      );
      say(`${lat.toFixed(5)}°, ${lng.toFixed(5)}°: ${parts.join(", ")}`);
    } catch (error) {
      say(error.message);
    }
  });
}

function showVector(tilejson) {
  const style = layer.style ?? {};
  const { tiles, minzoom = 0, maxzoom = 14, bounds } = tilejson;
  map.addSource("layer", { type: "vector", tiles, minzoom, maxzoom, bounds });
  const legend = tilejson["rmhdag:hexagons"];
  const ids = (tilejson.vector_layers ?? [{ id: "default" }]).flatMap(({ id }) =>
    legend === undefined ? addVector(id, style) : addHexagons(id, legend),
  );
  opacity.addEventListener("input", () => {
    const share = Number(opacity.value) / 100;
    for (const { id, property, full } of ids) map.setPaintProperty(id, property, share * full);
  });
  const layers = ids.map(({ id }) => id);
  map.on("click", async ({ point }) => {
    const near = around(point);
    const [feature] = [
      ...map.queryRenderedFeatures(point, { layers }),
      ...map.queryRenderedFeatures(near, { layers }),
    ];
    if (feature !== undefined) return tell(feature.properties);
    if (layer.kind === "hexagons") return say("There is no value here.");
    say("…");
    try {
      const found = await askFeature(near);
      if (found === undefined) say("There is no feature here.");
      else tell(found.properties);
    } catch (error) {
      say(error.message);
    }
  });
}

/** Cells in the colours of one statistic, and the others to choose from. */
function addHexagons(name, { stat, stats, range, fill }) {
  const id = `${name}-fill`;
  map.addLayer({
    id,
    type: "fill",
    source: "layer",
    "source-layer": name,
    filter: ["has", stat],
    paint: { "fill-color": fill, "fill-opacity": 0.75, "fill-outline-color": "#ffffff55" },
  });
  const label = document.createElement("label");
  const choice = document.createElement("select");
  choice.id = "stat";
  for (const each of stats) {
    const option = new Option(each, each, false, each === stat);
    choice.append(option);
  }
  choice.addEventListener("change", () => {
    const query = new URLSearchParams(window.location.search);
    query.set("stat", choice.value);
    window.location.search = query;
  });
  label.append("Colour by ", choice, ` ${round(range[0])} to ${round(range[1])}`);
  value.before(label);
  return [{ id, property: "fill-opacity", full: 0.75 }];
}

/** The box around a click: a country is smaller than a pointer when the whole world is shown. */
function around({ x, y }) {
  const reach = 6;
  return [
    [x - reach, y - reach],
    [x + reach, y + reach],
  ];
}

/** Asks the server: tiles of low zooms leave out features that are smaller than a pixel. */
async function askFeature([upperLeft, lowerRight]) {
  const { lng: west, lat: north } = map.unproject(upperLeft);
  const { lng: east, lat: south } = map.unproject(lowerRight);
  const box = [
    Math.max(west, -180),
    Math.max(south, -90),
    Math.min(east, 180),
    Math.min(north, 90),
  ];
  const query = new URLSearchParams(layer.query);
  query.set("limit", "1");
  query.set("bbox", box.join(","));
  const features = layer.base.includes("/tiles/")
    ? layer.base.replace("/tiles/", "/features/")
    : `${layer.base}/features`;
  const { features: found } = await getJson(`${features}/items?${query}`);
  return found[0];
}

/** Attributes as a list of names and values. */
function tell(properties) {
  const list = document.createElement("dl");
  for (const [name, each] of Object.entries(properties)) {
    const term = document.createElement("dt");
    const detail = document.createElement("dd");
    term.textContent = name;
    detail.textContent = each === null ? "–" : String(each);
    list.append(term, detail);
  }
  value.replaceChildren(list);
}

function addVector(name, { fill = "#2f6f9f", stroke = "#1d4a6b", width = 1.2, radius = 4 }) {
  const common = { source: "layer", "source-layer": name };
  const kinds = [
    {
      kind: "Polygon",
      type: "fill",
      property: "fill-opacity",
      full: 0.35,
      paint: { "fill-color": fill, "fill-opacity": 0.35 },
    },
    {
      kind: "LineString",
      type: "line",
      property: "line-opacity",
      full: 1,
      paint: { "line-color": stroke, "line-width": width },
    },
    {
      kind: "Point",
      type: "circle",
      property: "circle-opacity",
      full: 1,
      paint: {
        "circle-color": fill,
        "circle-radius": radius,
        "circle-stroke-color": stroke,
        "circle-stroke-width": 1,
      },
    },
  ];
  return kinds.map(({ kind, type, property, full, paint }) => {
    const id = `${name}-${type}`;
    // Outlines of polygons are lines too.
    const wanted = kind === "LineString" ? ["LineString", "Polygon"] : [kind];
    map.addLayer({
      id,
      type,
      ...common,
      filter: [
        "in",
        ["geometry-type"],
        ["literal", wanted.flatMap((each) => [each, `Multi${each}`])],
      ],
      paint,
    });
    return { id, property, full };
  });
}

/** West > east crosses the antimeridian: the view goes on past 180. */
function viewOf([west, south, east, north]) {
  return [
    [west, Math.max(south, -85)],
    [west > east ? east + 360 : east, Math.min(north, 85)],
  ];
}

async function getJson(address) {
  const answer = await fetch(address, { headers: { accept: "application/json" } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
  return body;
}

function round(number) {
  return Number.isInteger(number) ? String(number) : number.toPrecision(6);
}

function say(text) {
  value.textContent = text;
}

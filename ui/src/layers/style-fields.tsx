import { colormapNames } from "../../../src/core/serving/colormaps.ts";
import type { VectorLook } from "../map/layer.ts";
import type { LayerLook } from "./style-draft.ts";
import { readBands, readRanges } from "./style-draft.ts";

interface Fields {
  readonly look: LayerLook;
  readonly onChange: (look: LayerLook) => void;
}

export function RasterFields({ look, onChange }: Fields) {
  return (
    <div className="style-grid">
      <label className="field">
        Rescale
        <input
          placeholder="low,high"
          value={look.rescale}
          aria-invalid={look.rescale !== "" && readRanges(look.rescale) === undefined}
          onChange={(event) => {
            onChange({ ...look, rescale: event.target.value });
          }}
        />
      </label>
      <label className="field">
        Bands
        <input
          placeholder="1 or 3,2,1"
          value={look.bands}
          aria-invalid={look.bands !== "" && readBands(look.bands) === undefined}
          onChange={(event) => {
            onChange({ ...look, bands: event.target.value });
          }}
        />
      </label>
      <label className="field">
        Colours
        <select
          value={look.colormap}
          onChange={(event) => {
            onChange({ ...look, colormap: event.target.value });
          }}
        >
          <option value="">its own</option>
          {colormapNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

export function VectorFields({ look, onChange }: Fields) {
  const { fill = "#0b7f8a", stroke = "#06545c", width = 1 } = look.vector;
  const change = (vector: VectorLook) => {
    onChange({ ...look, vector: { ...look.vector, ...vector } });
  };
  return (
    <div className="style-grid">
      <label className="field">
        Fill
        <input
          type="color"
          value={fill}
          onChange={(event) => {
            change({ fill: event.target.value });
          }}
        />
      </label>
      <label className="field">
        Stroke
        <input
          type="color"
          value={stroke}
          onChange={(event) => {
            change({ stroke: event.target.value });
          }}
        />
      </label>
      <label className="field">
        Width
        <input
          type="number"
          min={0}
          max={20}
          step={0.5}
          value={width}
          onChange={(event) => {
            change({ width: Number(event.target.value) });
          }}
        />
      </label>
    </div>
  );
}

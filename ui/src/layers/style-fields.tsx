import { colormapNames } from "../../../src/core/serving/colormaps.ts";
import type { VectorStyle } from "../map/layer.ts";
import type { StyleDraft } from "./style-draft.ts";
import { readBands, readRanges } from "./style-draft.ts";

interface Fields {
  readonly draft: StyleDraft;
  readonly onChange: (draft: StyleDraft) => void;
}

export function RasterFields({ draft, onChange }: Fields) {
  return (
    <div className="style-grid">
      <label className="field">
        Rescale
        <input
          placeholder="low,high"
          value={draft.rescale}
          aria-invalid={draft.rescale !== "" && readRanges(draft.rescale) === undefined}
          onChange={(event) => {
            onChange({ ...draft, rescale: event.target.value });
          }}
        />
      </label>
      <label className="field">
        Bands
        <input
          placeholder="1 or 3,2,1"
          value={draft.bands}
          aria-invalid={draft.bands !== "" && readBands(draft.bands) === undefined}
          onChange={(event) => {
            onChange({ ...draft, bands: event.target.value });
          }}
        />
      </label>
      <label className="field">
        Colours
        <select
          value={draft.colormap}
          onChange={(event) => {
            onChange({ ...draft, colormap: event.target.value });
          }}
        >
          <option value="">those of the layer</option>
          {colormapNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

export function VectorFields({ draft, onChange }: Fields) {
  const { fill = "#0b7f8a", stroke = "#06545c", width = 1 } = draft.vector;
  const change = (vector: VectorStyle) => {
    onChange({ ...draft, vector: { ...draft.vector, ...vector } });
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

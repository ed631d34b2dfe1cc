import { colormapNames } from "../../../src/core/serving/colormaps.ts";
import type { VectorStyle } from "../map/layer.ts";
import type { StyleDraft, StyleProblems } from "./style-draft.ts";

interface Fields {
  readonly draft: StyleDraft;
  readonly problems: StyleProblems;
  readonly onChange: (draft: StyleDraft) => void;
}

export function RasterFields({ draft, problems, onChange }: Fields) {
  return (
    <div className="style-grid">
      <label className="field">
        Rescale
        <input
          placeholder="low,high"
          value={draft.rescale}
          aria-invalid={problems.rescale !== undefined}
          aria-describedby="style-rescale-problem"
          onChange={(event) => {
            onChange({ ...draft, rescale: event.target.value });
          }}
        />
        <Problem id="style-rescale-problem" text={problems.rescale} />
      </label>
      <label className="field">
        Bands
        <input
          placeholder="1 or 3,2,1"
          value={draft.bands}
          aria-invalid={problems.bands !== undefined}
          aria-describedby="style-bands-problem"
          onChange={(event) => {
            onChange({ ...draft, bands: event.target.value });
          }}
        />
        <Problem id="style-bands-problem" text={problems.bands} />
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

export function VectorFields({ draft, problems, onChange }: Fields) {
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
          value={Number.isNaN(width) ? "" : width}
          aria-invalid={problems.width !== undefined}
          aria-describedby="style-width-problem"
          onChange={(event) => {
            change({ width: event.target.valueAsNumber });
          }}
        />
        <Problem id="style-width-problem" text={problems.width} />
      </label>
    </div>
  );
}

function Problem({ id, text }: { id: string; text: string | undefined }) {
  return (
    <small id={id} className="error-text">
      {text}
    </small>
  );
}

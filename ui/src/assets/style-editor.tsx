/** How the layer is shown: tried at once on the map, kept only when it is saved. */
import { useState } from "react";
import { colormapNames } from "../../../src/core/serving/colormaps.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import { ApiError, api, explain, session } from "../api.ts";
import { useStore } from "../lib/store.ts";
import { useQuery } from "../live/use-query.ts";
import type { VectorLook } from "../map/layer.ts";
import { Icon } from "../parts/icon.tsx";
import { Card } from "../parts/page.tsx";
import { Await } from "../parts/states.tsx";
import { say } from "../parts/toast.tsx";

export interface Look {
  readonly rescale: string;
  readonly colormap: string;
  readonly bands: string;
  readonly vector: VectorLook;
}

export const noLook: Look = { rescale: "", colormap: "", bands: "", vector: {} };

/** As the addresses of tiles take it. */
export function lookQuery({ rescale, colormap, bands }: Look): string {
  const query = new URLSearchParams();
  if (isRange(rescale)) query.set("rescale", rescale.replaceAll(" ", ""));
  if (colormap !== "") query.set("colormap_name", colormap);
  if (/^\d+( *, *\d+)*$/.test(bands)) query.set("bidx", bands.replaceAll(" ", ""));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function isRange(text: string): boolean {
  const [low = NaN, high = NaN, ...more] = text.split(",").map((part) => Number(part || "x"));
  return more.length === 0 && low < high;
}

type Metadata = Awaited<ReturnType<typeof api.getLayerMetadata>>;

export function StyleEditor({
  assetId,
  isVector,
  look,
  onChange,
}: {
  assetId: string;
  isVector: boolean;
  look: Look;
  onChange: (look: Look) => void;
}) {
  const loaded = useQuery(`metadata ${assetId}`, async (signal) => {
    try {
      return { stored: await api.getLayerMetadata({ params: { asset_id: assetId }, signal }) };
    } catch (error) {
      if (error instanceof ApiError && error.code === "METADATA_NOT_FOUND") return { stored: null };
      throw error;
    }
  });
  return (
    <Card title="Name and style">
      <div className="stack">
        {isVector ? (
          <VectorFields look={look} onChange={onChange} />
        ) : (
          <RasterFields look={look} onChange={onChange} />
        )}
        <Await loaded={loaded} what="the metadata">
          {({ stored }) => (
            <SaveForm
              key={stored?.row_version ?? 0}
              assetId={assetId}
              stored={stored}
              style={styleOf(look, isVector)}
              done={loaded.reload}
            />
          )}
        </Await>
      </div>
    </Card>
  );
}

function RasterFields({ look, onChange }: { look: Look; onChange: (look: Look) => void }) {
  return (
    <div className="style-grid">
      <label className="field">
        Rescale
        <input
          placeholder="low,high"
          value={look.rescale}
          aria-invalid={look.rescale !== "" && !isRange(look.rescale)}
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
          <option value="">as the layer has them</option>
          {colormapNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

function VectorFields({ look, onChange }: { look: Look; onChange: (look: Look) => void }) {
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

/** As it is stored with the asset; nothing where nothing was tried. */
function styleOf(look: Look, isVector: boolean): JsonObject | undefined {
  if (isVector) {
    return Object.keys(look.vector).length === 0
      ? undefined
      : { vector: { ...look.vector } as JsonObject };
  }
  const style: Record<string, unknown> = {};
  if (isRange(look.rescale)) style["rescale"] = [look.rescale.split(",").map(Number)];
  if (look.colormap !== "") style["colormap_name"] = look.colormap;
  if (/^\d+( *, *\d+)*$/.test(look.bands)) style["bands"] = look.bands.split(",").map(Number);
  return Object.keys(style).length === 0 ? undefined : (style as JsonObject);
}

function SaveForm({
  assetId,
  stored,
  style,
  done,
}: {
  assetId: string;
  stored: Metadata | null;
  style: JsonObject | undefined;
  done: () => void;
}) {
  const [name, setName] = useState(stored?.display_name ?? "");
  const [description, setDescription] = useState(stored?.description ?? "");
  const [attribution, setAttribution] = useState(stored?.attribution ?? "");
  const may = useStore(session)?.access.includes("curate") ?? false;

  async function save(): Promise<void> {
    const kept =
      stored === null
        ? {}
        : {
            keywords: stored.keywords,
            legend: stored.legend,
            field_metadata: stored.field_metadata,
            min_zoom: stored.min_zoom,
            max_zoom: stored.max_zoom,
            thumbnail: stored.thumbnail,
          };
    try {
      await api.putLayerMetadata({
        params: { asset_id: assetId },
        body: {
          ...kept,
          display_name: name,
          description: description === "" ? null : description,
          attribution: attribution === "" ? null : attribution,
          style: style ?? stored?.style ?? null,
        },
        ...(stored === null ? {} : { headers: { "if-match": `"${stored.row_version}"` } }),
      });
      say("The name and style are saved");
      done();
    } catch (error) {
      say(explain(error), "bad");
    }
  }

  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label className="field">
        Display name
        <input
          required
          maxLength={200}
          value={name}
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
      </label>
      <label className="field">
        Description
        <textarea
          rows={3}
          value={description}
          onChange={(event) => {
            setDescription(event.target.value);
          }}
        />
      </label>
      <label className="field">
        Attribution
        <input
          value={attribution}
          onChange={(event) => {
            setAttribution(event.target.value);
          }}
        />
      </label>
      <div>
        <button className="button" type="submit" disabled={!may}>
          <Icon name="save" /> Save
        </button>
      </div>
    </form>
  );
}

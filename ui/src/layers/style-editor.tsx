/** How the layer is called and shown: tried at once on the map, kept only when it is saved. */
import { useState } from "react";
import type { LayerMetadata } from "../../../src/core/api/metadata.ts";
import { api, explain, session } from "../shared/api.ts";
import { useStore } from "../shared/store.ts";
import { Icon } from "../shared/icon.tsx";
import { Card } from "../shared/page.tsx";
import { say } from "../shared/toast.tsx";
import type { LayerLook } from "./style-draft.ts";
import { styleOf } from "./style-draft.ts";
import { RasterFields, VectorFields } from "./style-fields.tsx";

export function StyleEditor({
  assetId,
  isVector,
  stored,
  look,
  onChange,
  done,
}: {
  assetId: string;
  isVector: boolean;
  stored: LayerMetadata | null;
  look: LayerLook;
  onChange: (look: LayerLook) => void;
  done: () => void;
}) {
  return (
    <Card title="Name and style">
      <div className="stack">
        {isVector ? (
          <VectorFields look={look} onChange={onChange} />
        ) : (
          <RasterFields look={look} onChange={onChange} />
        )}
        <SaveForm
          key={stored?.row_version ?? 0}
          assetId={assetId}
          stored={stored}
          look={look}
          done={done}
        />
      </div>
    </Card>
  );
}

function SaveForm({
  assetId,
  stored,
  look,
  done,
}: {
  assetId: string;
  stored: LayerMetadata | null;
  look: LayerLook;
  done: () => void;
}) {
  const [name, setName] = useState(stored?.display_name ?? "");
  const [description, setDescription] = useState(stored?.description ?? "");
  const [attribution, setAttribution] = useState(stored?.attribution ?? "");
  const may = useStore(session)?.access.includes("curate") ?? false;

  async function save(): Promise<void> {
    try {
      await api.putLayerMetadata({
        params: { asset_id: assetId },
        body: {
          ...(stored === null ? {} : keptOf(stored)),
          display_name: name,
          description: description === "" ? null : description,
          attribution: attribution === "" ? null : attribution,
          style: styleOf(look, stored?.style ?? null),
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

/** What this form does not show stays as it is. */
function keptOf({
  keywords,
  legend,
  field_metadata,
  min_zoom,
  max_zoom,
  thumbnail,
}: LayerMetadata) {
  return { keywords, legend, field_metadata, min_zoom, max_zoom, thumbnail };
}

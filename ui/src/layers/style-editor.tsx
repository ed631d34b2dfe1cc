/** Name and style of a layer: the map shows a change at once, the server stores it on Save. */
import { queryOptions } from "@tanstack/react-query";
import { useState } from "react";
import type { LayerMetadata } from "../../../src/core/api/metadata.ts";
import { ApiError, api, errorText, useAccess } from "../shared/api.ts";
import { Icon } from "../shared/icon.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { showToast } from "../shared/toast.tsx";
import type { StyleDraft } from "./style-draft.ts";
import { toStyle } from "./style-draft.ts";
import { RasterFields, VectorFields } from "./style-fields.tsx";

/** The stored name and style; null for an asset whose name and style were never set. */
export const metadataQuery = (assetId: string) =>
  queryOptions({
    queryKey: ["asset", assetId, "metadata"],
    queryFn: async ({ signal }): Promise<LayerMetadata | null> => {
      try {
        return await api.getLayerMetadata({ params: { asset_id: assetId }, signal });
      } catch (error) {
        if (error instanceof ApiError && error.code === "METADATA_NOT_FOUND") return null;
        throw error;
      }
    },
  });

export function StyleEditor({
  assetId,
  isVector,
  stored,
  draft,
  onChange,
}: {
  assetId: string;
  isVector: boolean;
  stored: LayerMetadata | null;
  draft: StyleDraft;
  onChange: (draft: StyleDraft) => void;
}) {
  return (
    <Card title="Name and style">
      <div className="stack">
        {isVector ? (
          <VectorFields draft={draft} onChange={onChange} />
        ) : (
          <RasterFields draft={draft} onChange={onChange} />
        )}
        <SaveForm key={stored?.row_version ?? 0} assetId={assetId} stored={stored} draft={draft} />
      </div>
    </Card>
  );
}

function SaveForm({
  assetId,
  stored,
  draft,
}: {
  assetId: string;
  stored: LayerMetadata | null;
  draft: StyleDraft;
}) {
  const [name, setName] = useState(stored?.display_name ?? "");
  const [description, setDescription] = useState(stored?.description ?? "");
  const [attribution, setAttribution] = useState(stored?.attribution ?? "");
  const allowed = useAccess("curate");

  async function save(): Promise<void> {
    try {
      await api.putLayerMetadata({
        params: { asset_id: assetId },
        body: {
          ...(stored === null ? {} : keptOf(stored)),
          display_name: name,
          description: description === "" ? null : description,
          attribution: attribution === "" ? null : attribution,
          style: toStyle(draft, stored?.style ?? null),
        },
        ...(stored === null ? {} : { headers: { "if-match": `"${stored.row_version}"` } }),
      });
      showToast("The name and style are saved");
      // The asset too: saving changed its history and its row version, which a decision must know.
      invalidate("asset", assetId);
    } catch (error) {
      showToast(errorText(error), "bad");
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
        <button className="button" type="submit" disabled={!allowed}>
          <Icon name="save" /> Save
        </button>
      </div>
    </form>
  );
}

/** The properties that this form does not show stay as they are stored. */
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

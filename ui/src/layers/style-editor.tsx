/** Name and style of a layer: the map shows a change at once, the server stores it on Save. */
import { queryOptions } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import type { LayerMetadata } from "../../../src/core/api/metadata.ts";
import { ApiError, api, errorText, useAccess } from "../shared/api.ts";
import { Icon } from "../shared/icon.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { showToast } from "../shared/toast.tsx";
import type { StyleDraft } from "./style-draft.ts";
import { findProblems, toStyle } from "./style-draft.ts";
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
  version,
  stored,
  draft,
  onChange,
}: {
  version: AssetVersion;
  stored: LayerMetadata | null;
  draft: StyleDraft;
  onChange: (draft: StyleDraft) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const problems = findProblems(draft);
  const Fields = version.table_name === null ? RasterFields : VectorFields;
  return (
    <Card title="Name and style">
      <div ref={box} className="stack">
        <Fields draft={draft} problems={problems} onChange={onChange} />
        <SaveForm
          key={stored?.row_version ?? 0}
          version={version}
          stored={stored}
          draft={draft}
          refuse={() => {
            const wrong = box.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
            wrong?.focus();
            return wrong != null;
          }}
        />
      </div>
    </Card>
  );
}

/**
 * The name belongs to the asset. The style of an approved version is that of the asset; that of any
 * other version is stored with the version, so that nothing changes on what is served.
 */
function SaveForm({
  version,
  stored,
  draft,
  refuse,
}: {
  version: AssetVersion;
  stored: LayerMetadata | null;
  draft: StyleDraft;
  /** True: a field of the style is wrong and has the focus now. */
  refuse: () => boolean;
}) {
  const { asset_id, version_ordinal } = version;
  const [name, setName] = useState(stored?.display_name ?? "");
  const [description, setDescription] = useState(stored?.description ?? "");
  const [attribution, setAttribution] = useState(stored?.attribution ?? "");
  const allowed = useAccess("curate");
  const isApproved = version.approval_state === "approved";

  async function save(): Promise<void> {
    if (refuse()) {
      showToast("Nothing was saved: a field of the style is wrong", "bad");
      return;
    }
    const before = stored?.style ?? null;
    try {
      await api.putLayerMetadata({
        params: { asset_id },
        body: {
          ...(stored === null ? {} : keptOf(stored)),
          display_name: name,
          description: description === "" ? null : description,
          attribution: attribution === "" ? null : attribution,
          style: isApproved ? toStyle(draft, before) : before,
        },
        ...(stored === null ? {} : { headers: { "if-match": `"${stored.row_version}"` } }),
      });
      if (!isApproved) {
        const style = toStyle(draft, version.style ?? before) ?? {};
        await api.putVersionStyle({ params: { asset_id, version_ordinal }, body: { style } });
      }
      showToast(
        isApproved
          ? "The name and style are saved"
          : "The name is saved; the style is saved for this version until it is approved",
      );
      // The asset too: saving changed its history and its row version, which a decision must know.
      invalidate("asset", asset_id);
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
        <span>
          Display name<span className="error-text"> *</span>
        </span>
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
      {isApproved ? null : (
        <small className="dim">
          The name applies to the whole asset at once. The style is kept with this version; what is
          served changes with its approval.
        </small>
      )}
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

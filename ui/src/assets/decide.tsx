import { useState } from "react";
import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { api } from "../api.ts";
import { Action } from "../parts/action.tsx";
import { curl } from "../parts/copy.tsx";

/** Approve with a clearance, or reject with a reason. */
export function Decide({
  asset,
  version,
  done,
}: {
  asset: Asset;
  version: AssetVersion;
  done: () => void;
}) {
  const [clearance, setClearance] = useState<"ouo" | "public">("ouo");
  const params = { asset_id: asset.asset_id, version_ordinal: version.version_ordinal };
  const headers = { "if-match": `"${asset.row_version}"` };
  const address = `/api/v1/assets/${asset.asset_id}/versions/${version.version_ordinal}`;
  const ready = version.processing_state === "completed" && version.deleted_at === null;
  if (version.approval_state === "approved") return null;
  return (
    <>
      {version.approval_state === "pending_review" ? (
        <Action
          icon="cross"
          label="Reject"
          title={`Reject ${version.version_label}?`}
          needs="curate"
          danger
          reason="required"
          copy={{
            command: `rmhdag assets reject ${asset.asset_id} ${version.version_ordinal}`,
            request: curl("POST", `${address}/reject`, { reason: "…" }),
          }}
          run={async (reason) => {
            await api.rejectVersion({ params, body: { reason }, headers });
            done();
            return "The version is rejected";
          }}
        >
          <p>The platform sees the reason and may submit it again.</p>
        </Action>
      ) : null}
      <Action
        icon="check"
        label="Approve"
        title={`Approve ${version.version_label}?`}
        needs="curate"
        disabled={!ready}
        reason="optional"
        copy={{
          command: `rmhdag assets approve ${asset.asset_id} ${version.version_ordinal}`,
          request: curl("POST", `${address}/approve`, { clearance }),
        }}
        run={async (note) => {
          await api.approveVersion({
            params,
            body: { clearance, ...(note === "" ? {} : { note }) },
            headers,
          });
          done();
          return "The version is approved";
        }}
      >
        <label className="field">
          Clearance of the asset
          <select
            value={clearance}
            onChange={(event) => {
              setClearance(event.target.value === "public" ? "public" : "ouo");
            }}
          >
            <option value="ouo">official use only</option>
            <option value="public">public: it is exported too</option>
          </select>
        </label>
        <p>The version is served from this moment, to those whom the clearance admits.</p>
      </Action>
    </>
  );
}

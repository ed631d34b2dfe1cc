import { useState } from "react";
import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { invalidate } from "../shared/query-client.ts";

export interface OfVersion {
  readonly asset: Asset;
  readonly version: AssetVersion;
}

/** Approves a version with a clearance, or rejects it with a reason. */
export function Decide(props: OfVersion) {
  const { approval_state, deleted_at } = props.version;
  if (approval_state === "approved" || deleted_at !== null) return null;
  return (
    <>
      {approval_state === "pending_review" ? <Reject {...props} /> : null}
      <Approve {...props} />
    </>
  );
}

/** Refuses the action if the asset has changed since this page read it. */
export function ifMatch(asset: Asset): { readonly "if-match": string } {
  return { "if-match": `"${asset.row_version}"` };
}

export function addressOf({ asset_id, version_ordinal }: AssetVersion): string {
  return `/api/v1/assets/${asset_id}/versions/${version_ordinal}`;
}

function Reject({ asset, version }: OfVersion) {
  return (
    <Action
      icon="cross"
      label="Reject"
      title={`Reject ${version.version_label}?`}
      needs="curate"
      danger
      reason="required"
      copy={(reason) => ({
        command: commands.rejectVersion(version, reason),
        request: curl("POST", `${addressOf(version)}/reject`, { reason }),
      })}
      run={async (reason) => {
        await api.rejectVersion({ params: version, body: { reason }, headers: ifMatch(asset) });
        invalidate("asset", asset.asset_id);
        return "The version is rejected";
      }}
    >
      <p>The platform sees the reason and may resubmit the version.</p>
    </Action>
  );
}

function Approve({ asset, version }: OfVersion) {
  const [clearance, setClearance] = useState<"ouo" | "public">("ouo");
  const bodyOf = (note: string) => ({ clearance, ...(note === "" ? {} : { note }) });
  return (
    <Action
      icon="check"
      label="Approve"
      title={`Approve ${version.version_label}?`}
      needs="curate"
      primary
      disabled={version.processing_state !== "completed"}
      reason="optional"
      copy={(note) => ({
        command: commands.approveVersion(version, clearance, note),
        request: curl("POST", `${addressOf(version)}/approve`, bodyOf(note)),
      })}
      run={async (note) => {
        await api.approveVersion({ params: version, body: bodyOf(note), headers: ifMatch(asset) });
        invalidate("asset", asset.asset_id);
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
          <option value="public">public: the version is also exported</option>
        </select>
      </label>
      <p>The version is served from now on, to the users whom the clearance admits.</p>
    </Action>
  );
}

import { useState } from "react";
import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { Action } from "../shared/action.tsx";
import { curl } from "../shared/copy.tsx";

export interface OfVersion {
  readonly asset: Asset;
  readonly version: AssetVersion;
  readonly done: () => void;
}

/** Approve with a clearance, or reject with a reason. */
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

/** Refused if somebody else was faster. */
export function match(asset: Asset): { readonly "if-match": string } {
  return { "if-match": `"${asset.row_version}"` };
}

export function addressOf({ asset_id, version_ordinal }: AssetVersion): string {
  return `/api/v1/assets/${asset_id}/versions/${version_ordinal}`;
}

function Reject({ asset, version, done }: OfVersion) {
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
        await api.rejectVersion({ params: version, body: { reason }, headers: match(asset) });
        done();
        return "The version is rejected";
      }}
    >
      <p>The platform sees the reason and may submit it again.</p>
    </Action>
  );
}

function Approve({ asset, version, done }: OfVersion) {
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
        await api.approveVersion({ params: version, body: bodyOf(note), headers: match(asset) });
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
  );
}

import type { Asset } from "../../../src/core/api/asset-schemas.ts";
import { clearanceState } from "../../../src/core/model/asset.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { invalidate } from "../shared/query-client.ts";
import { ifMatch } from "./decide.tsx";

interface OfAsset {
  readonly asset: Asset;
}

/** Actions on all versions at once: clearance, exposure, deletion. */
export function AssetActions(props: OfAsset) {
  if (props.asset.deleted_at !== null) return null;
  return (
    <>
      <Clearances {...props} />
      <Exposure {...props} />
      <UnpublishAsset {...props} />
    </>
  );
}

function Clearances({ asset }: OfAsset) {
  const params = { asset_id: asset.asset_id };
  return clearanceState.options
    .filter((each) => each !== asset.clearance_state)
    .map((clearance) => {
      const bodyOf = (reason: string) => ({ clearance, ...(reason === "" ? {} : { reason }) });
      return (
        <Action
          key={clearance}
          icon={clearance === "public" ? "eye" : "ban"}
          label={`Set ${clearance}`}
          title={`Set the clearance to ${clearance}?`}
          needs="curate"
          danger={clearance === "uncleared"}
          reason="optional"
          copy={(reason) => ({
            command: commands.clearAsset(asset.asset_id, clearance, reason),
            request: curl("PUT", `/api/v1/assets/${asset.asset_id}/clearance`, bodyOf(reason)),
          })}
          run={async (reason) => {
            await api.setClearance({ params, body: bodyOf(reason), headers: ifMatch(asset) });
            invalidate("asset", asset.asset_id);
            return `The clearance is ${clearance}`;
          }}
        >
          <p>
            This applies at once to every version. Public clearance exports the approved versions to
            the public zone.
          </p>
        </Action>
      );
    });
}

function Exposure({ asset }: OfAsset) {
  const exposure = asset.exposure === "latest-only" ? "all-versions" : "latest-only";
  return (
    <Action
      icon="layers"
      label={exposure === "latest-only" ? "Serve the latest only" : "Serve all versions"}
      title={`Set the exposure to ${exposure}?`}
      needs="curate"
      copy={() => ({
        command: commands.exposeAsset(asset.asset_id, exposure),
        request: curl("PUT", `/api/v1/assets/${asset.asset_id}/exposure`, { exposure }),
      })}
      run={async () => {
        await api.setExposure({
          params: { asset_id: asset.asset_id },
          body: { exposure },
          headers: ifMatch(asset),
        });
        invalidate("asset", asset.asset_id);
        return `The exposure is ${exposure}`;
      }}
    >
      <p>
        {exposure === "latest-only"
          ? "Addresses of earlier versions no longer answer."
          : "Each approved version has an address of its own, beside the latest."}
      </p>
    </Action>
  );
}

function UnpublishAsset({ asset }: OfAsset) {
  const { asset_id } = asset;
  return (
    <Action
      icon="cross"
      label="Delete"
      title="Delete this asset with all its versions?"
      needs="curate"
      danger
      reason="required"
      copy={(reason) => ({
        command: commands.unpublishAsset(asset_id, reason),
        request: curl("POST", `/api/v1/assets/${asset_id}/unpublish`, { reason }),
      })}
      run={async (reason) => {
        await api.unpublishAsset({
          params: { asset_id },
          body: { reason },
          headers: ifMatch(asset),
        });
        invalidate("asset", asset.asset_id);
        return "The asset is deleted";
      }}
    >
      <p>
        It is no longer served, and jobs remove its data. Its history stays. This cannot be undone.
      </p>
    </Action>
  );
}

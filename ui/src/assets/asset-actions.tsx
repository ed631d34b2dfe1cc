import type { Asset } from "../../../src/core/api/asset-schemas.ts";
import { clearanceState } from "../../../src/core/model/asset.ts";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { Action } from "../shared/action.tsx";
import { curl } from "../shared/copy.tsx";
import { match } from "./decide.tsx";

interface OfAsset {
  readonly asset: Asset;
  readonly done: () => void;
}

/** What holds for all versions at once: who may see them, which are served, and their end. */
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

function Clearances({ asset, done }: OfAsset) {
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
            await api.setClearance({ params, body: bodyOf(reason), headers: match(asset) });
            done();
            return `The clearance is ${clearance}`;
          }}
        >
          <p>
            This holds at once for every version. Public clearance exports what is approved to the
            public zone.
          </p>
        </Action>
      );
    });
}

function Exposure({ asset, done }: OfAsset) {
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
          headers: match(asset),
        });
        done();
        return `The exposure is ${exposure}`;
      }}
    >
      <p>
        {exposure === "latest-only"
          ? "Addresses that name an earlier version answer no more."
          : "Each approved version has an address of its own, beside the latest."}
      </p>
    </Action>
  );
}

function UnpublishAsset({ asset, done }: OfAsset) {
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
        await api.unpublishAsset({ params: { asset_id }, body: { reason }, headers: match(asset) });
        done();
        return "The asset is deleted";
      }}
    >
      <p>
        Nothing of it is served any more, and jobs remove its data. What happened stays in the
        history. This cannot be taken back.
      </p>
    </Action>
  );
}

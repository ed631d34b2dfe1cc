import { Link } from "wouter";
import { mayDelete, mayReprocess, mayResubmit } from "../../../src/core/domain/version-rules.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { invalidate } from "../shared/query-client.ts";
import { waitsForReview } from "./asset-status.ts";
import type { OfVersion } from "./decide.tsx";
import { addressOf, ifMatch } from "./decide.tsx";
import { Download } from "./download.tsx";
import { Resubmit } from "./resubmit.tsx";

/** Actions on a version in the list of versions. Approving and rejecting is on the review page. */
export function VersionActions(props: OfVersion) {
  const { asset, version } = props;
  if (version.deleted_at !== null) return null;
  const word = waitsForReview(version) ? "Review" : "Look";
  return (
    <div className="row">
      <Link
        className="button"
        aria-label={`${word === "Look" ? "Look at" : word} version ${version.version_label}`}
        to={`/review/${asset.asset_id}/${version.version_ordinal}`}
      >
        <Icon name="eye" /> {word}
      </Link>
      {version.approval_state === "approved" ? <Withdraw {...props} /> : null}
      {mayReprocess(version) === undefined ? <Reprocess {...props} /> : null}
      {mayResubmit(version) === undefined ? <Resubmit {...props} /> : null}
      {version.served_revision === null ? null : <Download {...props} />}
      {version.export_state === "failed" ? <ExportAgain {...props} /> : null}
      {mayDelete(version) === undefined ? <Unpublish {...props} /> : null}
    </div>
  );
}

function Withdraw({ asset, version }: OfVersion) {
  return (
    <Action
      icon="ban"
      label="Withdraw"
      title={`Withdraw the approval of ${version.version_label}?`}
      needs="curate"
      danger
      reason="required"
      copy={(reason) => ({
        command: commands.withdrawVersion(version, reason),
        request: curl("POST", `${addressOf(version)}/withdraw`, { reason }),
      })}
      run={async (reason) => {
        await api.withdrawVersion({ params: version, body: { reason }, headers: ifMatch(asset) });
        invalidate("asset", version.asset_id);
        return "The approval is withdrawn";
      }}
    >
      <p>The version is no longer served from now on.</p>
    </Action>
  );
}

function Reprocess({ version }: OfVersion) {
  return (
    <Action
      icon="retry"
      label="Reprocess"
      title={`Process ${version.version_label} again?`}
      copy={() => ({
        command: commands.reprocessVersion(version),
        request: curl("POST", `${addressOf(version)}/reprocess`, {}),
      })}
      run={async () => {
        await api.reprocessVersion({ params: version, body: {} });
        invalidate("asset", version.asset_id);
        return "The version is processed again";
      }}
    >
      <p>The same inputs make a new revision; an approval stays as it is.</p>
    </Action>
  );
}

function ExportAgain({ asset, version }: OfVersion) {
  return (
    <Action
      icon="out"
      label="Export again"
      title={`Export ${version.version_label} again?`}
      copy={() => ({
        command: commands.exportVersion(version),
        request: curl("POST", `${addressOf(version)}/export`, {}),
      })}
      run={async () => {
        await api.exportVersion({ params: version, body: {}, headers: ifMatch(asset) });
        invalidate("asset", version.asset_id);
        return "The export is running";
      }}
    >
      <p>The copy in the public zone is written again.</p>
    </Action>
  );
}

function Unpublish({ asset, version }: OfVersion) {
  return (
    <Action
      icon="cross"
      label="Delete"
      title={`Delete ${version.version_label}?`}
      needs="curate"
      danger
      reason="required"
      copy={(reason) => ({
        command: commands.unpublishVersion(version, reason),
        request: curl("POST", `${addressOf(version)}/unpublish`, { reason }),
      })}
      run={async (reason) => {
        await api.unpublishVersion({ params: version, body: { reason }, headers: ifMatch(asset) });
        invalidate("asset", version.asset_id);
        return "The version is deleted";
      }}
    >
      <p>
        It is no longer served, and a job removes its data and its catalogue item. The history
        stays. This cannot be undone.
      </p>
    </Action>
  );
}

import { mayDelete, mayReprocess, mayResubmit } from "../../../src/core/domain/version-rules.ts";
import { api } from "../api.ts";
import { commands } from "../lib/commands.ts";
import { Action } from "../parts/action.tsx";
import { curl } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { Link } from "../router.tsx";
import type { OfVersion } from "./decide.tsx";
import { addressOf, match } from "./decide.tsx";
import { waitsForReview } from "./look.ts";
import { Resubmit } from "./resubmit.tsx";

/** What can be done to a version where it stands; deciding about it is the review's business. */
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
      {version.export_state === "failed" ? <ExportAgain {...props} /> : null}
      {mayDelete(version) === undefined ? <Unpublish {...props} /> : null}
    </div>
  );
}

function Withdraw({ asset, version, done }: OfVersion) {
  return (
    <Action
      icon="ban"
      label="Withdraw"
      title={`Take the approval of ${version.version_label} back?`}
      needs="curate"
      danger
      reason="required"
      copy={(reason) => ({
        command: commands.withdrawVersion(version, reason),
        request: curl("POST", `${addressOf(version)}/withdraw`, { reason }),
      })}
      run={async (reason) => {
        await api.withdrawVersion({ params: version, body: { reason }, headers: match(asset) });
        done();
        return "The approval is withdrawn";
      }}
    >
      <p>The version is no longer served from this moment.</p>
    </Action>
  );
}

function Reprocess({ version, done }: OfVersion) {
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
        done();
        return "It is being processed again";
      }}
    >
      <p>The same data makes one more revision; an approval stays as it is.</p>
    </Action>
  );
}

function ExportAgain({ asset, version, done }: OfVersion) {
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
        await api.exportVersion({ params: version, body: {}, headers: match(asset) });
        done();
        return "The export is running";
      }}
    >
      <p>The copy in the public zone is made anew.</p>
    </Action>
  );
}

function Unpublish({ asset, version, done }: OfVersion) {
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
        await api.unpublishVersion({ params: version, body: { reason }, headers: match(asset) });
        done();
        return "The version is deleted";
      }}
    >
      <p>
        It is no longer served, and a job removes its data and its catalogue item. What happened
        stays in the history. This cannot be taken back.
      </p>
    </Action>
  );
}

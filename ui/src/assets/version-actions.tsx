import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { api } from "../api.ts";
import { Action } from "../parts/action.tsx";
import { Icon } from "../parts/icon.tsx";
import { Link } from "../router.tsx";
import { waitsForReview } from "./look.ts";

/** What can be done to a version where it stands; deciding about it is the review's business. */
export function VersionActions({
  asset,
  version,
  done,
}: {
  asset: Asset;
  version: AssetVersion;
  done: () => void;
}) {
  const params = { asset_id: asset.asset_id, version_ordinal: version.version_ordinal };
  const headers = { "if-match": `"${asset.row_version}"` };
  if (version.deleted_at !== null) return null;
  return (
    <>
      <Link
        className="button"
        aria-label={`${waitsForReview(version) ? "Review" : "Look at"} version ${version.version_label}`}
        to={`/review/${asset.asset_id}/${version.version_ordinal}`}
      >
        <Icon name="eye" /> {waitsForReview(version) ? "Review" : "Look"}
      </Link>
      {version.approval_state === "approved" ? (
        <Action
          icon="ban"
          label="Withdraw"
          title={`Take the approval of ${version.version_label} back?`}
          needs="curate"
          danger
          reason="required"
          run={async (reason) => {
            await api.withdrawVersion({ params, body: { reason }, headers });
            done();
            return "The approval is withdrawn";
          }}
        >
          <p>The version is no longer served from this moment.</p>
        </Action>
      ) : null}
      <Action
        icon="retry"
        label="Reprocess"
        title={`Process ${version.version_label} again?`}
        disabled={
          version.processing_state === "queued" || version.processing_state === "processing"
        }
        run={async () => {
          await api.reprocessVersion({ params, body: {} });
          done();
          return "It is being processed again";
        }}
      >
        <p>The same data makes one more revision; an approval stays as it is.</p>
      </Action>
    </>
  );
}

import { Link } from "wouter";
import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { short } from "../shared/format.ts";
import { Badge, Chip } from "../shared/status.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { approvalStatus, processingStatus } from "./asset-status.ts";
import { VersionActions } from "./version-actions.tsx";

const columns: readonly Column<AssetVersion>[] = [
  {
    name: "Version",
    cell: (version) => (
      <>
        {version.version_label} <Badge>#{version.version_ordinal}</Badge>{" "}
        {version.deleted_at === null ? null : <Badge>deleted</Badge>}
      </>
    ),
  },
  {
    name: "Processing",
    cell: ({ processing_state, processing_error }) => (
      <>
        <Chip status={processingStatus[processing_state]} text={processing_state} />
        {processing_error === null ? null : (
          <div className="error-text clamp">{processing_error}</div>
        )}
      </>
    ),
  },
  {
    name: "Approval",
    cell: ({ approval_state, rejection_reason }) => (
      <>
        <Chip status={approvalStatus[approval_state]} text={approval_state.replace("_", " ")} />
        {rejection_reason === null ? null : <div className="dim clamp">{rejection_reason}</div>}
      </>
    ),
  },
  { name: "Revision", numeric: true, cell: ({ revision }) => revision },
  {
    name: "Reviewed",
    cell: ({ reviewer, reviewed_at }) => (
      <>
        {reviewer ?? "–"}{" "}
        {reviewed_at === null ? null : (
          <span className="dim">
            <Time at={reviewed_at} relative />
          </span>
        )}
      </>
    ),
  },
  {
    name: "Job",
    cell: ({ current_job_id: id }) =>
      id === null ? (
        "–"
      ) : (
        <Link to={`/jobs/${encodeURIComponent(id)}`}>
          <code>{short(id)}</code>
        </Link>
      ),
  },
];

export function Versions({ asset }: { asset: Asset }) {
  return (
    <Table
      rows={[...asset.versions].sort((a, b) => b.version_ordinal - a.version_ordinal)}
      keyOf={({ version_ordinal }) => version_ordinal}
      columns={[
        ...columns,
        {
          name: "Actions",
          unnamed: true,
          cell: (version) => <VersionActions asset={asset} version={version} />,
        },
      ]}
    />
  );
}

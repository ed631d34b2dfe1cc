import type { ServiceOutputs } from "../../../core/model/version.ts";
import type { LayerStyle } from "../../../core/serving/style.ts";
import type { Transaction } from "../queryable.ts";

/** Names a version. Every function of this file needs the lock of its asset. */
export interface VersionKey {
  readonly asset_id: string;
  readonly version_ordinal: number;
}

/** The first revision of a new version, or the next revision of an existing one. */
export interface NewRevision extends VersionKey {
  readonly revision: number;
  readonly request_id: string;
  readonly workflow_id: string;
  readonly job_id: string;
  readonly created_by: string;
}

export function insertVersion(tx: Transaction, version: NewRevision, label: string): void {
  tx.send(
    `INSERT INTO dagapp.asset_versions
       (asset_id, version_ordinal, version_label, request_id, workflow_id, current_job_id)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      version.asset_id,
      version.version_ordinal,
      label,
      version.request_id,
      version.workflow_id,
      version.job_id,
    ],
    "insert_version",
  );
  insertRevision(tx, version);
}

/** Starts the next revision. A resubmission must be reviewed again; a reprocessing keeps its review. */
export function restartVersion(
  tx: Transaction,
  version: NewRevision,
  again: { readonly review: boolean; readonly label?: string | undefined },
): void {
  tx.send(
    `UPDATE dagapp.asset_versions SET processing_state = 'queued', processing_error = NULL,
       revision = $3, request_id = $4, workflow_id = $5, current_job_id = $6,
       version_label = coalesce($7, version_label),
       approval_state = CASE WHEN $8 THEN 'pending_review' ELSE approval_state END,
       rejection_reason = CASE WHEN $8 THEN NULL ELSE rejection_reason END,
       updated_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2`,
    [
      version.asset_id,
      version.version_ordinal,
      version.revision,
      version.request_id,
      version.workflow_id,
      version.job_id,
      again.label ?? null,
      again.review,
    ],
  );
  insertRevision(tx, version);
}

function insertRevision(tx: Transaction, revision: NewRevision): void {
  tx.send(
    `INSERT INTO dagapp.asset_revisions
       (asset_id, version_ordinal, revision, request_id, workflow_id, job_id, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      revision.asset_id,
      revision.version_ordinal,
      revision.revision,
      revision.request_id,
      revision.workflow_id,
      revision.job_id,
      revision.created_by,
    ],
    "insert_revision",
  );
}

/** Copies an earlier revision to a new one, whose outputs are then served. Answers its items' number. */
export async function restoreRevision(
  tx: Transaction,
  key: VersionKey,
  from: number,
  revision: number,
  by: string,
): Promise<number> {
  const values = [key.asset_id, key.version_ordinal, from, revision];
  tx.send(
    `INSERT INTO dagapp.asset_revisions
       (asset_id, version_ordinal, revision, request_id, workflow_id, restored_from,
        processing_state, content_hash, blob_path, table_name, stac_collection_id, stac_item_id,
        created_by, completed_at)
     SELECT asset_id, version_ordinal, $4, request_id, workflow_id, revision, 'completed',
       content_hash, blob_path, table_name, stac_collection_id, stac_item_id, $5, now()
     FROM dagapp.asset_revisions
     WHERE asset_id = $1 AND version_ordinal = $2 AND revision = $3`,
    [...values, by],
  );
  const { rowCount } = await tx.query(
    `INSERT INTO dagapp.stac_revision_items
     SELECT asset_id, version_ordinal, $4, collection_id, item_id, item, box, box_beyond,
       starts_at, ends_at, paths, tables
     FROM dagapp.stac_revision_items
     WHERE asset_id = $1 AND version_ordinal = $2 AND revision = $3`,
    values,
  );
  tx.send(
    `UPDATE dagapp.asset_versions v SET processing_state = 'completed', processing_error = NULL,
       revision = $4, served_revision = $4, content_hash = r.content_hash,
       blob_path = r.blob_path, table_name = r.table_name,
       stac_collection_id = r.stac_collection_id, stac_item_id = r.stac_item_id,
       updated_at = now()
     FROM dagapp.asset_revisions r
     WHERE v.asset_id = $1 AND v.version_ordinal = $2
       AND r.asset_id = $1 AND r.version_ordinal = $2 AND r.revision = $3`,
    values,
  );
  return rowCount ?? 0;
}

/** Sets the style of a version that is not approved; null: it looks like its asset. */
export function writeVersionStyle(
  tx: Transaction,
  key: VersionKey,
  style: LayerStyle | null,
): void {
  tx.send(
    `UPDATE dagapp.asset_versions SET style = $3, updated_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2`,
    [key.asset_id, key.version_ordinal, style === null ? null : JSON.stringify(style)],
  );
}

/** Moves the style of a version that is approved to its asset. Without one, nothing changes. */
export function moveStyleToAsset(tx: Transaction, key: VersionKey, by: string): void {
  tx.send(
    `UPDATE dagapp.layer_metadata m SET style = v.style, updated_by = $3,
       row_version = m.row_version + 1, updated_at = now()
     FROM dagapp.asset_versions v
     WHERE m.asset_id = $1 AND v.asset_id = $1 AND v.version_ordinal = $2 AND v.style IS NOT NULL`,
    [key.asset_id, key.version_ordinal, by],
  );
  writeVersionStyle(tx, key, null);
}

export function approveVersion(tx: Transaction, key: VersionKey, reviewer: string): void {
  tx.send(
    `UPDATE dagapp.asset_versions SET approval_state = 'approved', reviewer = $3,
       reviewed_at = now(), rejection_reason = NULL, withdrawn_at = NULL, updated_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2`,
    [key.asset_id, key.version_ordinal, reviewer],
  );
}

export function rejectVersion(
  tx: Transaction,
  key: VersionKey,
  reviewer: string,
  reason: string,
): void {
  tx.send(
    `UPDATE dagapp.asset_versions SET approval_state = 'rejected', reviewer = $3,
       reviewed_at = now(), rejection_reason = $4, updated_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2`,
    [key.asset_id, key.version_ordinal, reviewer, reason],
  );
}

export function withdrawApproval(tx: Transaction, key: VersionKey): void {
  tx.send(
    `UPDATE dagapp.asset_versions SET approval_state = 'pending_review', withdrawn_at = now(),
       updated_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2`,
    [key.asset_id, key.version_ordinal],
  );
}

export function deleteVersion(tx: Transaction, key: VersionKey, by: string): void {
  tx.send(
    `UPDATE dagapp.asset_versions SET deleted_at = now(), deleted_by = $3, updated_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2`,
    [key.asset_id, key.version_ordinal, by],
  );
}

export type ProcessingEnd =
  | { readonly state: "completed"; readonly outputs: ServiceOutputs }
  | { readonly state: "failed"; readonly error: string };

/** Records how the processing of a revision ended; outputs of a completed one are served from now on. */
export function endProcessing(
  tx: Transaction,
  key: VersionKey & { readonly revision: number },
  end: ProcessingEnd,
): void {
  const outputs = end.state === "completed" ? end.outputs : undefined;
  const values = [
    key.asset_id,
    key.version_ordinal,
    key.revision,
    end.state,
    end.state === "failed" ? end.error : null,
    outputs?.content_hash ?? null,
    outputs?.blob_path ?? null,
    outputs?.table_name ?? null,
    outputs?.stac_collection_id ?? null,
    outputs?.stac_item_id ?? null,
  ];
  tx.send(
    `UPDATE dagapp.asset_revisions SET processing_state = $4::dagapp.processing_state,
       processing_error = $5, content_hash = $6, blob_path = $7, table_name = $8,
       stac_collection_id = $9, stac_item_id = $10, completed_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2 AND revision = $3`,
    values,
    "end_revision",
  );
  const change =
    outputs === undefined
      ? ""
      : `served_revision = $3, content_hash = $6, blob_path = $7, table_name = $8,
         stac_collection_id = $9, stac_item_id = $10,`;
  tx.send(
    `UPDATE dagapp.asset_versions SET processing_state = $4::dagapp.processing_state,
       processing_error = $5, ${change} updated_at = now()
     WHERE asset_id = $1 AND version_ordinal = $2 AND revision = $3 AND deleted_at IS NULL`,
    outputs === undefined ? values.slice(0, 5) : values,
    outputs === undefined ? "fail_version" : "complete_version",
  );
}

export type ExportChange =
  | { readonly state: "running"; readonly job_id: string }
  | { readonly state: "failed" | "withdrawn" }
  | {
      readonly state: "completed";
      readonly revision: number;
      readonly external_blob_path: string;
      readonly adf_run_id: string | null;
    };

export function setExport(tx: Transaction, key: VersionKey, change: ExportChange): void {
  const values = [key.asset_id, key.version_ordinal, change.state];
  const where = `updated_at = now() WHERE asset_id = $1 AND version_ordinal = $2`;
  const set = `UPDATE dagapp.asset_versions SET export_state = $3::dagapp.export_state`;
  switch (change.state) {
    case "running":
      tx.send(`${set}, export_job_id = $4, ${where}`, [...values, change.job_id]);
      return;
    case "completed":
      tx.send(
        `${set}, exported_revision = $4, external_blob_path = $5, adf_run_id = $6, ${where}`,
        [...values, change.revision, change.external_blob_path, change.adf_run_id],
      );
      return;
    case "withdrawn":
      tx.send(`${set}, external_blob_path = NULL, exported_revision = NULL, ${where}`, values);
      return;
    case "failed":
      tx.send(`${set}, ${where}`, values);
      return;
  }
}

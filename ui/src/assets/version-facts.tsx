import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { AssetRevision } from "../../../src/core/api/asset-schemas.ts";
import { mayReprocess } from "../../../src/core/domain/version-rules.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { JsonView } from "../shared/json-view.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { Badge, Chip } from "../shared/status.tsx";
import { Time } from "../shared/time.tsx";
import { processingStatus } from "./asset-status.ts";
import type { OfVersion } from "./decide.tsx";
import { addressOf, ifMatch } from "./decide.tsx";
import { Findings } from "./findings.tsx";

/** The findings, revisions and inputs of a version. */
export function VersionFacts(props: OfVersion) {
  const { version } = props;
  const { asset_id, version_ordinal, revision, processing_state } = version;
  const detail = useQuery({
    // Revision and state are parts of the key so that a change of them, seen by polling the asset,
    // reads the details again.
    queryKey: ["asset", asset_id, "version", version_ordinal, revision, processing_state],
    queryFn: ({ signal }) => api.getAssetVersion({ params: { asset_id, version_ordinal }, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Await query={detail} what="the version">
      {({ revisions, requests }) => {
        const last = requests.find(({ request_id }) => request_id === version.request_id);
        return (
          <>
            <Findings version={version} result={last?.result ?? null} />
            <Card title="Revisions">
              <div className="stack">
                <Revisions {...props} revisions={revisions} />
                <details>
                  <summary>Inputs of the last request</summary>
                  <JsonView value={last?.inputs} label="inputs" />
                </details>
                <dl className="facts">
                  <dt>Data</dt>
                  <dd>
                    <code>{version.blob_path ?? version.table_name ?? "–"}</code>
                  </dd>
                  <dt>Content</dt>
                  <dd>
                    <code>{version.content_hash ?? "–"}</code>
                  </dd>
                </dl>
              </div>
            </Card>
          </>
        );
      }}
    </Await>
  );
}

/** One revision for each processing of the version; an earlier one can be served again. */
function Revisions({
  revisions,
  ...props
}: OfVersion & { readonly revisions: readonly AssetRevision[] }) {
  return revisions.map((revision) => (
    <div key={revision.revision} className="row">
      <strong>{revision.revision}</strong>
      <Chip status={processingStatus[revision.processing_state]} text={revision.processing_state} />
      {revision.revision === props.version.served_revision ? <Badge>served</Badge> : null}
      <span className="dim">
        {revision.restored_from === null ? "" : `of ${revision.restored_from}, `}
        {revision.created_by}, <Time at={revision.created_at} relative />
      </span>
      <Rollback {...props} revision={revision} />
    </div>
  ));
}

function Rollback({
  asset,
  version,
  revision: { revision, processing_state },
}: OfVersion & { readonly revision: AssetRevision }) {
  const isPossible = processing_state === "completed" && mayReprocess(version) === undefined;
  if (!isPossible || revision === version.served_revision) return null;
  const body = { to_revision: revision };
  return (
    <Action
      icon="retry"
      label="Serve again"
      title={`Serve revision ${revision} again?`}
      copy={() => ({
        command: commands.rollbackVersion(version, revision),
        request: curl("POST", `${addressOf(version)}/rollback`, body),
      })}
      run={async () => {
        await api.rollbackVersion({ params: version, body, headers: ifMatch(asset) });
        invalidate("asset", asset.asset_id);
        return `Revision ${revision} is served again`;
      }}
    >
      <p>Its outputs become a new revision; the other revisions stay.</p>
    </Action>
  );
}

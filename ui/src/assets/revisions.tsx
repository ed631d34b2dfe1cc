import type { AssetRevision } from "../../../src/core/api/asset-schemas.ts";
import { mayReprocess } from "../../../src/core/domain/version-rules.ts";
import { api } from "../api.ts";
import { commands } from "../lib/commands.ts";
import { Action } from "../parts/action.tsx";
import { Badge, Chip } from "../parts/chip.tsx";
import { curl } from "../parts/copy.tsx";
import { Time } from "../parts/time.tsx";
import type { OfVersion } from "./decide.tsx";
import { addressOf, match } from "./decide.tsx";
import { processingLook } from "./look.ts";

/** Each processing of a version; the outputs of an earlier one can be served again. */
export function Revisions({
  revisions,
  ...props
}: OfVersion & { readonly revisions: readonly AssetRevision[] }) {
  return revisions.map((revision) => (
    <div key={revision.revision} className="row">
      <strong>{revision.revision}</strong>
      <Chip status={processingLook[revision.processing_state]} text={revision.processing_state} />
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
  done,
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
        await api.rollbackVersion({ params: version, body, headers: match(asset) });
        done();
        return `Revision ${revision} is served again`;
      }}
    >
      <p>Its outputs become a new revision: nothing of what happened is lost.</p>
    </Action>
  );
}

import type { Job } from "../../../src/core/api/job-schemas.ts";
import { Icon } from "../shared/icon.tsx";

/** Before anything else: what went wrong, where, and the way there. */
export function FirstFailure({ job, onOpen }: { job: Job; onOpen: (nodeId: string) => void }) {
  const failed = job.nodes
    .filter(({ status, error }) => status === "failed" && error !== null)
    .sort((a, b) => (a.completed_at ?? "").localeCompare(b.completed_at ?? ""))[0];
  const message = job.error?.message ?? failed?.error?.message;
  if (message === undefined) return null;
  const nodeId = job.error?.node_id ?? failed?.node_id ?? null;
  const code = job.error?.code ?? failed?.error?.code;
  return (
    <div className="failure" role="alert">
      <Icon name="warning" />
      <div>
        <strong>
          {nodeId === null ? "The job failed" : `${nodeId} failed`}
          {failed === undefined || failed.attempt < 2 ? "" : ` after ${failed.attempt} attempts`}
        </strong>{" "}
        {code == null ? null : <code>{code}</code>}
        <p>{message}</p>
      </div>
      {nodeId === null ? null : (
        <button
          className="button"
          onClick={() => {
            onOpen(nodeId);
          }}
        >
          Open
        </button>
      )}
    </div>
  );
}

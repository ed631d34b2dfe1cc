import { Link } from "wouter";
import type { JobSummary } from "../../../src/core/api/job-schemas.ts";
import { number, short } from "../shared/format.ts";
import { Notice } from "../shared/states.tsx";
import { Chip, statusLook } from "../shared/status.tsx";
import { TableBox } from "../shared/table.tsx";
import { Elapsed, Time } from "../shared/time.tsx";

/** Jobs as a table; with `selection`, each row can be marked. */
export function JobRows({
  jobs,
  selection,
}: {
  jobs: readonly JobSummary[];
  selection?:
    { readonly ids: ReadonlySet<string>; readonly toggle: (jobId: string) => void } | undefined;
}) {
  if (jobs.length === 0) {
    return (
      <Notice icon="jobs" title="No jobs">
        <p>No job matches. Submit one from a workflow, or widen the filter.</p>
      </Notice>
    );
  }
  return (
    <TableBox>
      <thead>
        <tr>
          {selection === undefined ? null : (
            <th>
              <span className="visually-hidden">Mark</span>
            </th>
          )}
          <th>State</th>
          <th>Job</th>
          <th>Workflow</th>
          <th>Progress</th>
          <th>By</th>
          <th>Submitted</th>
          <th className="num">Took</th>
          <th>Why it ended</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.job_id}>
            {selection === undefined ? null : (
              <td>
                <input
                  type="checkbox"
                  aria-label={`Mark job ${job.job_id}`}
                  checked={selection.ids.has(job.job_id)}
                  onChange={() => {
                    selection.toggle(job.job_id);
                  }}
                />
              </td>
            )}
            <td data-label="State">
              <Chip status={job.paused && job.completed_at === null ? "paused" : job.status} />
            </td>
            <td data-label="Job">
              <Link to={`/jobs/${encodeURIComponent(job.job_id)}`} title={job.job_id}>
                <code>{short(job.job_id)}</code>
              </Link>
            </td>
            <td data-label="Workflow">
              <Link to={`/workflows/${encodeURIComponent(job.workflow_id)}`}>
                {job.workflow_id}
              </Link>
            </td>
            <td data-label="Progress" className="nowrap">
              <Progress job={job} />
            </td>
            <td data-label="By">{job.submitted_by ?? <span className="dim">–</span>}</td>
            <td data-label="Submitted" className="nowrap">
              <Time at={job.created_at} relative />
            </td>
            <td data-label="Took" className="num">
              <Elapsed from={job.started_at} to={job.completed_at} />
            </td>
            <td data-label="Why">
              <Outcome job={job} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
}

/** Why a job ended: an error, or the reason that was given with the cancellation. */
function Outcome({ job: { status, error, cancel_reason } }: { job: JobSummary }) {
  const text = status === "cancelled" ? cancel_reason : error?.message;
  return (
    <div className={status === "cancelled" ? "clamp dim" : "clamp error-text"} title={text ?? ""}>
      {text}
    </div>
  );
}

function Progress({ job }: { job: JobSummary }) {
  const share = job.nodes_total === 0 ? 0 : job.nodes_settled / job.nodes_total;
  return (
    <>
      <span className="progress" data-tone={statusLook[job.status].tone} aria-hidden>
        <span style={{ width: `${share * 100}%` }} />
      </span>{" "}
      <span className="num dim" title="Settled nodes; a fan-out counts as one">
        {number(job.nodes_settled)}/{number(job.nodes_total)}
      </span>
    </>
  );
}

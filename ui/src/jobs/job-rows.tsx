import { Link } from "wouter";
import type { JobSummary } from "../../../src/core/api/job-schemas.ts";
import { number, short } from "../shared/format.ts";
import { Notice } from "../shared/states.tsx";
import { Chip, statusLook } from "../shared/status.tsx";
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
    <table>
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
          <th className="wide-only">By</th>
          <th>Submitted</th>
          <th className="num">Took</th>
          <th className="wide-only">Error</th>
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
            <td>
              <Chip status={job.paused && job.completed_at === null ? "paused" : job.status} />
            </td>
            <td>
              <Link to={`/jobs/${encodeURIComponent(job.job_id)}`} title={job.job_id}>
                <code>{short(job.job_id)}</code>
              </Link>
            </td>
            <td>
              <Link to={`/workflows/${encodeURIComponent(job.workflow_id)}`}>
                {job.workflow_id}
              </Link>
            </td>
            <td className="nowrap">
              <Progress job={job} />
            </td>
            <td className="wide-only">{job.submitted_by ?? <span className="dim">–</span>}</td>
            <td className="nowrap">
              <Time at={job.created_at} relative />
            </td>
            <td className="num">
              <Elapsed from={job.started_at} to={job.completed_at} />
            </td>
            <td className="wide-only">
              <div className="clamp error-text" title={job.error?.message}>
                {job.error?.message}
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Progress({ job }: { job: JobSummary }) {
  const share = job.nodes_total === 0 ? 0 : job.nodes_settled / job.nodes_total;
  return (
    <>
      <span className="progress" data-tone={statusLook[job.status].tone} aria-hidden>
        <span style={{ width: `${share * 100}%` }} />
      </span>{" "}
      <span className="num dim">
        {number(job.nodes_settled)}/{number(job.nodes_total)}
      </span>
    </>
  );
}

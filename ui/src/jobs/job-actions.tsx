import { Link } from "wouter";
import type { Job } from "../../../src/core/api/job-schemas.ts";
import { isFinished } from "../../../src/core/model/job.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { navigate } from "../shared/navigation.ts";

export function JobActions({ job, reload }: { job: Job; reload: () => void }) {
  const { job_id } = job;
  const params = { job_id };
  const finished = isFinished(job.status);
  const path = `/api/v1/jobs/${encodeURIComponent(job_id)}`;
  return (
    <>
      {finished ? null : job.paused ? (
        <Action
          icon="play"
          label="Resume"
          title="Resume this job?"
          copy={() => ({
            command: commands.resumeJob(job_id),
            request: curl("POST", `${path}/resume`),
          })}
          run={async () => {
            await api.resumeJob({ params });
            return "The job is resumed";
          }}
        >
          <p>Nodes that waited because of the pause are queued at once.</p>
        </Action>
      ) : (
        <Action
          icon="pause"
          label="Pause"
          title="Pause this job?"
          copy={() => ({
            command: commands.pauseJob(job_id),
            request: curl("POST", `${path}/pause`),
          })}
          run={async () => {
            await api.pauseJob({ params });
            return "The job is paused";
          }}
        >
          <p>No new task starts; tasks that run on a worker may finish.</p>
        </Action>
      )}
      {finished ? null : (
        <Action
          icon="ban"
          label="Cancel"
          title="Cancel this job?"
          danger
          reason="optional"
          copy={(reason) => ({
            command: commands.cancelJob(job_id, reason),
            request: curl("POST", `${path}/cancel`, reason === "" ? {} : { reason }),
          })}
          run={async (reason) => {
            await api.cancelJob({ params, body: reason === "" ? {} : { reason } });
            return "The job is being cancelled";
          }}
        >
          <p>No new task starts, and running tasks are asked to stop. This cannot be undone.</p>
        </Action>
      )}
      {job.status === "failed" || job.status === "cancelled" ? (
        <Action
          icon="retry"
          label={job.status === "failed" ? "Retry failed" : "Run the rest"}
          title={job.status === "failed" ? "Retry the failed nodes?" : "Run the rest of this job?"}
          copy={() => ({
            command: commands.retryJob(job_id),
            request: curl("POST", `${path}/retry`),
          })}
          run={async () => {
            const retry = await api.retryJob({ params });
            navigate(`/jobs/${encodeURIComponent(retry.job_id)}`);
            return "A new job runs the nodes that did not complete";
          }}
        >
          <p>A new job keeps the completed nodes and runs the rest again, on the same version.</p>
        </Action>
      ) : null}
      <Link
        className="button"
        to={`/workflows/${encodeURIComponent(job.workflow_id)}/submit?from=${encodeURIComponent(job_id)}`}
      >
        <Icon name="copy" /> Submit again
      </Link>
      <a className="button quiet" href={path} download={`${job_id}.json`}>
        <Icon name="save" /> JSON
      </a>
      <button type="button" className="button quiet" aria-label="Reload the job" onClick={reload}>
        <Icon name="retry" />
      </button>
    </>
  );
}

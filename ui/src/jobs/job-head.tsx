/** The top of the job page: progress, facts, and the first failure. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { CurrentTask, Histogram, Job } from "../../../src/core/api/job-schemas.ts";
import { CopyId } from "../shared/copy.tsx";
import { number, short } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { orchestratorsQuery, workflowQuery } from "../shared/queries.ts";
import { Badge, StateBar } from "../shared/status.tsx";
import { Elapsed, Time, between, duration } from "../shared/time.tsx";

export function JobHead({ job, tasks }: { job: Job; tasks: ReadonlyMap<string, CurrentTask> }) {
  const counts = countNodes(job);
  const settled = counts.completed + counts.failed + counts.skipped + counts.cancelled;
  const share = counts.total === 0 ? 0 : settled / counts.total;
  return (
    <section className="card job-head" aria-label="The job at a glance">
      <div className="job-progress">
        <StateBar counts={counts} />
        <span className="num" data-testid="progress">
          <strong>{Math.floor(share * 100)} %</strong> · {number(settled)} of {number(counts.total)}{" "}
          nodes
          {counts.failed > 0 ? ` · ${number(counts.failed)} failed` : ""}
          {counts.running > 0 ? ` · ${number(counts.running)} running` : ""}
          <TimeLeft job={job} share={share} />
        </span>
      </div>
      <dl className="job-facts">
        <Fact name="Submitted">
          <Time at={job.created_at} />
        </Fact>
        <Fact name="Waited">
          {job.started_at === null ? "–" : duration(between(job.created_at, job.started_at))}
        </Fact>
        <Fact name="Took">
          <Elapsed from={job.started_at} to={job.completed_at} />
        </Fact>
        <Fact name="Version">
          <code>{job.workflow_version}</code> <NewerVersion job={job} />
        </Fact>
        <Fact name="Owner">
          <Owner job={job} />
        </Fact>
        <Fact name="By">{job.submitted_by ?? "–"}</Fact>
        {job.correlation_id === null ? null : (
          <Fact name="Request">
            <CopyId id={job.correlation_id} text={short(job.correlation_id)} what="Request id" />
          </Fact>
        )}
        {job.rerun_of === null ? null : (
          <Fact name="Rerun of">
            <Link to={`/jobs/${encodeURIComponent(job.rerun_of)}`}>
              <code>{short(job.rerun_of)}</code>
            </Link>
          </Fact>
        )}
        <Fact name="Priority">{job.priority}</Fact>
        {tasks.size === 0 ? null : (
          <Fact name="On workers">{tasks.size >= 100 ? "100 or more" : tasks.size}</Fact>
        )}
      </dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** All nodes of a job by state; a fan-out counts as its children. */
function countNodes({ nodes }: Pick<Job, "nodes">): Histogram {
  const sum = {
    total: 0,
    pending: 0,
    ready: 0,
    dispatched: 0,
    running: 0,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  };
  for (const { status, children } of nodes) {
    if (children === null || children.total === 0) {
      sum[status] += 1;
      sum.total += 1;
      continue;
    }
    for (const key of Object.keys(sum) as (keyof Histogram)[]) sum[key] += children[key];
  }
  return sum;
}

/** Extrapolates from the settled nodes, once a tenth of them and three seconds have passed. */
function TimeLeft({ job, share }: { job: Job; share: number }) {
  if (job.status !== "running" || job.started_at === null || share < 0.1 || share >= 1) return null;
  const passed = between(job.started_at, null);
  if (passed < 3000) return null;
  return <> · about {duration((passed / share) * (1 - share))} left</>;
}

function NewerVersion({ job }: { job: Job }) {
  const { data: workflow } = useQuery(workflowQuery(job.workflow_id));
  if (workflow === undefined || workflow.workflow_hash === job.workflow_hash) return null;
  return (
    <Link
      to={`/workflows/${encodeURIComponent(job.workflow_id)}?tab=definition&from=${job.workflow_hash}`}
    >
      <Badge title="New jobs use a newer version of this workflow">newer version exists</Badge>
    </Link>
  );
}

function Owner({ job }: { job: Job }) {
  const active = job.completed_at === null && job.owner_id !== null;
  const { data } = useQuery({ ...orchestratorsQuery, enabled: active, refetchInterval: 10_000 });
  if (job.owner_id === null) return <span className="dim">none</span>;
  const owner = active ? data?.items.find(({ owner_id }) => owner_id === job.owner_id) : undefined;
  return (
    <>
      <code>{job.owner_id}</code>{" "}
      {owner === undefined ? null : (
        <span className={owner.alive ? "dim" : "error-text"}>
          {owner.alive ? "alive, " : "last heartbeat "}
          <Time at={owner.heartbeat_at} relative />
        </span>
      )}
    </>
  );
}

/** The error of the job or of the node that failed first, with a button that opens that node. */
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

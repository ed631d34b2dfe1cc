/** The top of the job page: progress, facts, and why the job ended. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { CurrentTask, Job } from "../../../src/core/api/job-schemas.ts";
import { isFinished } from "../../../src/core/model/job.ts";
import { api } from "../shared/api.ts";
import { useNow } from "../shared/clock.ts";
import { CopyId } from "../shared/copy.tsx";
import { number, short } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { orchestratorsQuery, workflowQuery } from "../shared/queries.ts";
import { Badge, Chip, StateBar } from "../shared/status.tsx";
import { Elapsed, Time, between, duration } from "../shared/time.tsx";
import { attemptsOf } from "../../../src/core/model/attempts.ts";
import { readyTimes } from "./gantt/gantt-segments.ts";
import { countNodes, failureTitle, progressShare, settledNodes, timeLeft } from "./job-progress.ts";

const mostReruns = 10;

type Edges = readonly { readonly from: string; readonly to: string }[];

export function JobHead({
  job,
  tasks,
  edges = [],
}: {
  job: Job;
  tasks: ReadonlyMap<string, CurrentTask>;
  edges?: Edges | undefined;
}) {
  const counts = countNodes(job);
  const settled = settledNodes(counts);
  const share = progressShare(job.status, counts);
  return (
    <section className="card job-head" aria-label="The job at a glance">
      <div className="job-progress">
        <StateBar counts={counts} />
        <span className="num" data-testid="progress">
          <strong>{share === undefined ? job.status : `${Math.floor(share * 100)} %`}</strong>
          {share === undefined ? " after " : " · "}
          {number(settled)} of {number(counts.total)} nodes
          {counts.failed > 0 ? ` · ${number(counts.failed)} failed` : ""}
          {counts.cancelled > 0 ? ` · ${number(counts.cancelled)} cancelled` : ""}
          {counts.running > 0 ? ` · ${number(counts.running)} running` : ""}
          <Left job={job} edges={edges} />
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
        <Reruns job={job} />
        {job.trace_id === null ? null : (
          <Fact name="Trace">
            {job.trace_url === null ? (
              <CopyId id={job.trace_id} text={short(job.trace_id)} what="Trace id" />
            ) : (
              <a href={job.trace_url} target="_blank" rel="noreferrer">
                <code>{short(job.trace_id)}</code>
              </a>
            )}
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

/** Counts on with the clock, so that the page says "about 3 m left" and not a time that has passed. */
function Left({ job, edges }: { job: Job; edges: Edges }) {
  const running = job.status === "running";
  const now = useNow(1000, running);
  const left = running ? timeLeft(job.nodes, readyTimes(job.nodes, edges), now) : undefined;
  if (left === undefined) return null;
  return (
    <>
      {" "}
      · {left.node_id}: about {duration(left.ms)} left
    </>
  );
}

/** Jobs that run this one again. */
function Reruns({ job }: { job: Job }) {
  const { data } = useQuery({
    queryKey: ["job", job.job_id, "reruns"],
    queryFn: ({ signal }) =>
      api.listJobs({ query: { rerun_of: job.job_id, limit: mostReruns }, signal }),
    enabled: isFinished(job.status),
    refetchInterval: 5000,
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Fact name="Run again as">
      <span className="row">
        {data.items.map(({ job_id, status }) => (
          <Link key={job_id} to={`/jobs/${encodeURIComponent(job_id)}`}>
            <code>{short(job_id)}</code> <Chip status={status} />
          </Link>
        ))}
      </span>
    </Fact>
  );
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

/** Why the job ended as it did: who cancelled it, or the first failure with a button that opens its node. */
export function WhyEnded({ job, onOpen }: { job: Job; onOpen: (nodeId: string) => void }) {
  if (job.status === "cancelled" || (job.cancel_requested && !isFinished(job.status))) {
    return (
      <div className="failure" data-tone="stop" role="status">
        <Icon name="ban" />
        <div>
          <strong>
            {job.status === "cancelled" ? "The job was cancelled" : "The job is being cancelled"}
          </strong>
          <p>{job.cancel_reason ?? "No reason was given."}</p>
        </div>
      </div>
    );
  }
  return <FirstFailure job={job} onOpen={onOpen} />;
}

function FirstFailure({ job, onOpen }: { job: Job; onOpen: (nodeId: string) => void }) {
  const failed = job.nodes
    .filter(({ status, error }) => status === "failed" && error !== null)
    .sort((a, b) => (a.completed_at ?? "").localeCompare(b.completed_at ?? ""))[0];
  const message = job.error?.message ?? failed?.error?.message;
  if (message === undefined) return null;
  const nodeId = job.error?.node_id ?? failed?.node_id ?? null;
  const code = job.error?.code ?? failed?.error?.code;
  const attempts = failed === undefined ? 0 : attemptsOf(failed);
  return (
    <div className="failure" role="alert">
      <Icon name="warning" />
      <div>
        <strong>
          {failureTitle(job.status, nodeId)}
          {attempts < 2 ? "" : ` after ${attempts} attempts`}
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

import type { CurrentTask, Job } from "../../../../src/core/api/job-schemas.ts";
import { isFinished } from "../../../../src/core/model/job.ts";
import { Action } from "../../shared/action.tsx";
import { api } from "../../shared/api.ts";
import { commands } from "../../shared/commands.ts";
import { curl } from "../../shared/copy.tsx";
import { Icon } from "../../shared/icon.tsx";
import { JsonView } from "../../shared/json-view.tsx";
import { navigate } from "../../shared/navigation.ts";
import { Chip } from "../../shared/status.tsx";
import { Elapsed, Time, between, duration } from "../../shared/time.tsx";
import { attemptNumber, attemptsOf, workerOf } from "../../../../src/core/model/attempts.ts";
import { Children } from "./children.tsx";
import { waitText } from "./wait-text.ts";

export type NodeDetail = Awaited<ReturnType<typeof api.getNode>>;

/** State, times, attempts, checkpoints and children of a node. */
export function NodeAbout({
  job,
  node,
  task,
  readyAt,
  onChoose,
}: {
  job: Job;
  node: NodeDetail;
  task: CurrentTask | undefined;
  /** When the nodes before it had ended, in milliseconds. */
  readyAt: number | undefined;
  onChoose: (nodeId: string) => void;
}) {
  const isTask = node.node_type === "task" || node.parent_node_id !== null;
  const progress = task?.progress_percent ?? node.progress?.percent;
  const message = task?.progress_message ?? node.progress?.message;
  return (
    <>
      {node.wait_reason === null ? null : (
        <p className="wait-reason">
          <Icon name="clock" /> {waitText(node.wait_reason)}
        </p>
      )}
      {node.error === null ? null : (
        <div className="failure">
          <Icon name="cross" />
          <div>
            <code>{node.error.code}</code> <span className="dim">{node.error.category}</span>
            <p>{node.error.message}</p>
          </div>
        </div>
      )}
      {progress === undefined || node.status !== "running" ? null : (
        <p>
          <span className="progress">
            <span style={{ width: `${progress}%` }} />
          </span>{" "}
          {Math.round(progress)} % {message}
        </p>
      )}
      <dl className="facts">
        <dt>Kind</dt>
        <dd>{node.node_type.replace("_", " ")}</dd>
        {node.handler === null ? null : (
          <>
            <dt>Handler</dt>
            <dd>
              <code>{node.handler}</code> on <code>{node.queue}</code>
            </dd>
          </>
        )}
        {isTask ? <TaskFacts node={node} /> : <StepFacts node={node} readyAt={readyAt} />}
      </dl>
      {node.attempts.length === 0 ? null : (
        <div className="stack">
          <h3>Attempts ({attemptsOf(node)})</h3>
          {node.attempts.map((attempt) => (
            <div
              key={attempt.task_id}
              className="attempt"
              data-tone={attempt.status === "completed" ? "good" : "bad"}
            >
              <span className="row">
                <strong>{attemptNumber(attempt.task_id)}</strong> <Chip status={attempt.status} />
                <Elapsed from={attempt.started_at} to={attempt.reported_at} />
                <span className="dim">
                  <Time at={attempt.started_at} />
                </span>
              </span>
              {attempt.error === null ? null : <span>{attempt.error.message}</span>}
              {attempt.worker_id === null ? null : <code className="dim">{attempt.worker_id}</code>}
            </div>
          ))}
        </div>
      )}
      {node.checkpoints.length === 0 ? null : (
        <details>
          <summary>Checkpoints ({node.checkpoints.length})</summary>
          <JsonView value={node.checkpoints} label="checkpoints" />
        </details>
      )}
      {node.children === null ? null : (
        <Children
          jobId={job.job_id}
          parent={node.node_id}
          counts={node.children}
          onChoose={onChoose}
        />
      )}
      <NodeActions job={job} node={node} />
    </>
  );
}

function TaskFacts({ node }: { node: NodeDetail }) {
  const worker = workerOf(node);
  return (
    <>
      {worker === null ? null : (
        <>
          <dt>Worker</dt>
          <dd>
            <code>{worker}</code>
          </dd>
        </>
      )}
      <dt>Queued</dt>
      <dd>
        <Time at={node.dispatched_at} />
        {node.dispatched_at === null || node.started_at === null
          ? null
          : `, waited ${duration(between(node.dispatched_at, node.started_at))}`}
      </dd>
      <dt>Started</dt>
      <dd>
        <Time at={node.started_at} />
      </dd>
      <dt>Took</dt>
      <dd>
        <Elapsed from={node.started_at} to={node.completed_at} />
        {node.timeout_seconds === null ? null : (
          <span className="dim"> of {duration(node.timeout_seconds * 1000)} allowed</span>
        )}
      </dd>
      {node.max_retries === 0 ? null : (
        <>
          <dt>Retries</dt>
          <dd>
            {node.retry_count} of {node.max_retries}
          </dd>
        </>
      )}
    </>
  );
}

/** A node without a task of its own is settled by the orchestrator; a fan-out lasts until its children end. */
function StepFacts({ node, readyAt }: { node: NodeDetail; readyAt: number | undefined }) {
  const begun = node.status === "running" || node.completed_at !== null ? readyAt : undefined;
  const from = begun === undefined ? null : new Date(begun).toISOString();
  if (node.node_type !== "fan_out") {
    return (
      <>
        <dt>Settled</dt>
        <dd>
          <Time at={node.completed_at} />
        </dd>
      </>
    );
  }
  return (
    <>
      <dt>Started</dt>
      <dd>
        <Time at={from} />
      </dd>
      <dt>Took</dt>
      <dd>
        <Elapsed from={from} to={node.completed_at} />
        {node.timeout_seconds === null ? null : (
          <span className="dim">
            {" "}
            · {duration(node.timeout_seconds * 1000)} allowed for each child
          </span>
        )}
      </dd>
    </>
  );
}

function NodeActions({ job, node }: { job: Job; node: NodeDetail }) {
  if (!isFinished(job.status) || node.parent_node_id !== null) return null;
  const { job_id } = job;
  const body = { from_node: node.node_id };
  return (
    <div>
      <Action
        icon="retry"
        label="Rerun from here"
        title={`Rerun from ${node.node_id}?`}
        copy={() => ({
          command: commands.rerunJob(job_id, node.node_id),
          request: curl("POST", `/api/v1/jobs/${encodeURIComponent(job_id)}/rerun`, body),
        })}
        run={async () => {
          const rerun = await api.rerunJob({ params: { job_id }, body });
          navigate(`/jobs/${encodeURIComponent(rerun.job_id)}`);
          return `A new job runs from ${node.node_id} on`;
        }}
      >
        <p>
          A new job keeps the nodes before this one, and runs this node and its successors again.
        </p>
      </Action>
    </div>
  );
}

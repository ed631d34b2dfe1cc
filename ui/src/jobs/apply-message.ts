import type { CurrentTask, Job, JobEvent, NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { StreamMessage } from "../../../src/core/api/stream.ts";
import type { EventType } from "../../../src/core/model/event.ts";
import type { JobStatus } from "../../../src/core/model/job.ts";

/** The state of a job as the page knows it: a snapshot and every message since. */
export interface LiveJob {
  readonly job: Job;
  readonly seq: number;
  readonly tasks: ReadonlyMap<string, CurrentTask>;
  /** The stream has sent its end message. */
  readonly ended: boolean;
}

const statusAfter: Partial<Record<EventType, JobStatus>> = {
  job_started: "running",
  job_completed: "completed",
  job_failed: "failed",
  job_cancelled: "cancelled",
};

export function startLive(job: Job): LiveJob {
  return { job, seq: job.event_seq, tasks: new Map(), ended: false };
}

export function applyMessage(live: LiveJob | undefined, message: StreamMessage): LiveJob {
  if (message.type === "snapshot") return startLive(message.job);
  if (live === undefined) throw new Error("a stream begins with a snapshot");
  switch (message.type) {
    case "events": {
      const job = message.events.reduce(applyEvent, live.job);
      const nodes = mergeNodes(job.nodes, message.nodes);
      return { ...live, seq: message.seq, job: { ...job, nodes, event_seq: message.seq } };
    }
    case "progress": {
      const tasks = new Map(message.tasks.map((task) => [task.node_id, task]));
      const nodes = live.job.nodes.map((node) => withTask(node, tasks.get(node.node_id)));
      return { ...live, tasks, job: { ...live.job, nodes } };
    }
    case "end":
      return {
        ...live,
        seq: message.seq,
        ended: true,
        tasks: new Map(),
        job: { ...live.job, status: message.status },
      };
  }
}

function applyEvent(job: Job, event: JobEvent): Job {
  const status = statusAfter[event.event_type] ?? job.status;
  const finished = status === "completed" || status === "failed" || status === "cancelled";
  return {
    ...job,
    status,
    started_at: job.started_at ?? (status === "running" ? event.created_at : null),
    completed_at: job.completed_at ?? (finished ? event.created_at : null),
    paused: event.event_type === "job_paused" || (job.paused && event.event_type !== "job_resumed"),
    cancel_requested: job.cancel_requested || event.event_type === "job_cancel_requested",
    updated_at: event.created_at,
  };
}

/** A dispatched node whose task is leased by a worker is running; leases write no events. */
function withTask(node: NodeSummary, task: CurrentTask | undefined): NodeSummary {
  if (task?.task_id !== node.task_id) return node;
  if (node.status !== "dispatched" && node.status !== "running") return node;
  const { worker_id, started_at, progress_percent: percent, progress_message: message } = task;
  const progress = percent === null ? node.progress : { percent, message };
  return { ...node, status: "running", worker_id, started_at, progress, wait_reason: null };
}

function mergeNodes(
  before: readonly NodeSummary[],
  changed: readonly NodeSummary[],
): NodeSummary[] {
  const byId = new Map(changed.map((node) => [node.node_id, node]));
  return before.map((node) => byId.get(node.node_id) ?? node);
}

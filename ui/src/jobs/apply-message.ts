import type { CurrentTask, Job, JobEvent, NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { StreamMessage } from "../../../src/core/api/stream.ts";
import type { EventType } from "../../../src/core/model/event.ts";
import type { JobStatus } from "../../../src/core/model/job.ts";

/** A job as the page has it: a snapshot, and every message since. */
export interface LiveJob {
  readonly job: Job;
  readonly seq: number;
  /** The newest, for the timeline; older ones are read in pages. */
  readonly events: readonly JobEvent[];
  readonly tasks: ReadonlyMap<string, CurrentTask>;
  /** The job ended: read it once more for its result. */
  readonly ended: boolean;
}

const mostEvents = 500;

const statusAfter: Partial<Record<EventType, JobStatus>> = {
  job_started: "running",
  job_completed: "completed",
  job_failed: "failed",
  job_cancelled: "cancelled",
};

export function begin(job: Job): LiveJob {
  return { job, seq: job.event_seq, events: [], tasks: new Map(), ended: false };
}

export function applyMessage(live: LiveJob | undefined, message: StreamMessage): LiveJob {
  if (message.type === "snapshot") {
    const next = begin(message.job);
    return live === undefined ? next : { ...next, events: live.events };
  }
  if (live === undefined) throw new Error("a stream begins with a snapshot");
  switch (message.type) {
    case "events": {
      const job = message.events.reduce(applyEvent, live.job);
      const nodes = mergeNodes(job.nodes, message.nodes);
      const events = [...live.events, ...message.events].slice(-mostEvents);
      return { ...live, seq: message.seq, events, job: { ...job, nodes, event_seq: message.seq } };
    }
    case "progress": {
      const tasks = new Map(message.tasks.map((task) => [task.node_id, task]));
      const nodes = live.job.nodes.map((node) => onWorker(node, tasks.get(node.node_id)));
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
    paused:
      event.event_type === "job_paused"
        ? true
        : event.event_type === "job_resumed"
          ? false
          : job.paused,
    cancel_requested: job.cancel_requested || event.event_type === "job_cancel_requested",
    updated_at: event.created_at,
  };
}

/** A worker's lease makes a dispatched node a running one, and leases have no events. */
function onWorker(node: NodeSummary, task: CurrentTask | undefined): NodeSummary {
  if (task?.task_id !== node.task_id) return node;
  if (node.status !== "dispatched" && node.status !== "running") return node;
  const { worker_id, started_at, progress_percent: percent, progress_message: message } = task;
  const progress = percent === null ? node.progress : { percent, message };
  return { ...node, status: "running", worker_id, started_at, progress, wait_reason: null };
}

function mergeNodes(before: readonly NodeSummary[], news: readonly NodeSummary[]): NodeSummary[] {
  const byId = new Map(news.map((node) => [node.node_id, node]));
  return before.map((node) => byId.get(node.node_id) ?? node);
}

import type { Job, JobEvent, NodeSummary } from "../../core/api/job-schemas.ts";
import type { StreamMessage } from "../../core/api/stream.ts";
import type { JobStatus } from "../../core/model/job.ts";
import { isSettled } from "../../core/model/node.ts";

/** The state of a job after a message of its stream; each message makes a new view. */
export interface JobView {
  readonly job: Job;
  readonly nodes: ReadonlyMap<string, NodeSummary>;
  readonly status: JobStatus;
  readonly paused: boolean;
  readonly seq: number;
}

/** The job's status after each of its own events; other events are about nodes. */
const jobStates = new Map<JobEvent["event_type"], JobStatus>([
  ["job_started", "running"],
  ["job_completed", "completed"],
  ["job_failed", "failed"],
  ["job_cancelled", "cancelled"],
]);

/** Keeps static nodes only: a fan-out node has the counts of its children. */
export function viewOf(job: Job): JobView {
  const nodes = job.nodes.filter(({ parent_node_id }) => parent_node_id === null);
  return {
    job,
    nodes: new Map(nodes.map((node) => [node.node_id, node])),
    status: job.status,
    paused: job.paused,
    seq: job.event_seq,
  };
}

/** The next view after a message. The first message of a stream is a snapshot. */
export function applyMessage(view: JobView | undefined, message: StreamMessage): JobView {
  if (message.type === "snapshot") return viewOf(message.job);
  if (view === undefined) throw new Error("The stream began without a snapshot.");
  switch (message.type) {
    case "events": {
      const nodes = new Map(view.nodes);
      for (const node of message.nodes) {
        if (node.parent_node_id === null) nodes.set(node.node_id, node);
      }
      return message.events.reduce<JobView>(applyEvent, { ...view, nodes, seq: message.seq });
    }
    case "progress":
      return { ...view, nodes: applyProgress(view, message.tasks) };
    case "end":
      return { ...view, status: message.status, seq: message.seq };
  }
}

function applyEvent(view: JobView, { event_type: type }: JobEvent): JobView {
  if (type === "job_paused") return { ...view, paused: true };
  if (type === "job_resumed") return { ...view, paused: false };
  const status = jobStates.get(type);
  return status === undefined ? view : { ...view, status };
}

type Tasks = Extract<StreamMessage, { type: "progress" }>["tasks"];

/** A task that reports progress is running. No event says so: a lease writes none. */
function applyProgress(view: JobView, tasks: Tasks): ReadonlyMap<string, NodeSummary> {
  const nodes = new Map(view.nodes);
  for (const task of tasks) {
    const node = nodes.get(task.node_id);
    if (node === undefined || isSettled(node.status) || node.task_id !== task.task_id) continue;
    nodes.set(task.node_id, {
      ...node,
      status: "running",
      worker_id: task.worker_id,
      started_at: task.started_at,
      wait_reason: null,
      progress:
        task.progress_percent === null
          ? node.progress
          : { percent: task.progress_percent, message: task.progress_message },
    });
  }
  return nodes;
}

import type { OutMessage } from "../../adapters/broker/broker.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { NewEvent } from "../../adapters/postgres/repositories/events.ts";
import { insertEvents } from "../../adapters/postgres/repositories/events.ts";
import type { JobUpdate } from "../../adapters/postgres/repositories/jobs.ts";
import { updateJobs } from "../../adapters/postgres/repositories/jobs.ts";
import type {
  CompletedChild,
  NewChildren,
  Release,
} from "../../adapters/postgres/repositories/children.ts";
import {
  completeChildren,
  insertChildren,
  releaseChildren,
} from "../../adapters/postgres/repositories/children.ts";
import type { NewNode, NodeUpdate } from "../../adapters/postgres/repositories/nodes.ts";
import {
  cancelUnsettledNodes,
  insertNodes,
  updateNodes,
} from "../../adapters/postgres/repositories/nodes.ts";
import { emptyInbox } from "../../adapters/postgres/repositories/work.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { EndedJob, EngineDeps } from "./deps.ts";

/** The message of a dispatched task, and where it goes. */
export interface Outgoing {
  readonly queue: string;
  readonly message: OutMessage;
}

type ReleasedToMessage = (child: {
  readonly node_id: string;
  readonly task_id: string;
  readonly attempt: number;
  readonly input_params: JsonObject;
}) => Outgoing;

interface Rows {
  readonly newNodes: NewNode[];
  readonly newChildren: NewChildren[];
  readonly nodeUpdates: NodeUpdate[];
  readonly releases: (Release & { readonly toMessage: ReleasedToMessage })[];
  readonly events: NewEvent[];
  readonly messages: Outgoing[];
  readonly jobUpdates: JobUpdate[];
  /** Jobs that ended early: their unsettled nodes are cancelled and their messages withdrawn. */
  readonly stopped: string[];
  /** Settled rows of the inbox. */
  readonly processed: number[];
  /** Children that completed. */
  readonly completed: CompletedChild[];
  /** Jobs with a correlation id whose first report this tick settles. */
  readonly started: string[];
  readonly ended: EndedJob[];
}

/**
 * Collects the changes of all jobs of one tick and writes them with array parameters: the number of
 * statements depends on the kinds of change and never on their number.
 */
export class WriteBatch implements Rows {
  readonly newNodes: Rows["newNodes"] = [];
  readonly newChildren: Rows["newChildren"] = [];
  readonly nodeUpdates: Rows["nodeUpdates"] = [];
  readonly releases: Rows["releases"] = [];
  readonly events: Rows["events"] = [];
  readonly messages: Rows["messages"] = [];
  readonly jobUpdates: Rows["jobUpdates"] = [];
  readonly stopped: Rows["stopped"] = [];
  readonly processed: Rows["processed"] = [];
  readonly completed: Rows["completed"] = [];
  readonly started: Rows["started"] = [];
  readonly ended: Rows["ended"] = [];

  addAll<Kind extends keyof Rows>(kind: Kind, rows: readonly Rows[Kind][number][]): void {
    const all: Rows[Kind][number][] = this[kind];
    for (const row of rows) all.push(row);
  }

  /** Adds the rows of another batch. */
  merge(other: WriteBatch): void {
    for (const kind of kinds) this.addAll(kind, other[kind]);
  }

  async write(
    tx: Transaction,
    { broker, jobHooks, ownerId }: Pick<EngineDeps, "broker" | "jobHooks" | "ownerId">,
  ): Promise<void> {
    const jobUpdates = lastOfEachJob(this.jobUpdates);
    const isSettledOnce = jobUpdates.length === this.jobUpdates.length;
    const nodeUpdates = isSettledOnce ? this.nodeUpdates : lastOfEachNode(this.nodeUpdates);
    // Must be first: takes the locks on the job rows, or fails when a job has changed.
    if (jobUpdates.length > 0) updateJobs(tx, jobUpdates, ownerId);
    if (this.jobUpdates.length > 0) reach("write.jobs_updated");
    this.writeCompleted(tx);
    if (this.newNodes.length > 0) insertNodes(tx, this.newNodes);
    if (this.newChildren.length > 0) insertChildren(tx, this.newChildren);
    if (this.newNodes.length + this.newChildren.length > 0) reach("write.nodes_inserted");
    if (nodeUpdates.length > 0) updateNodes(tx, nodeUpdates);
    if (nodeUpdates.length > 0) reach("write.nodes_updated");
    if (this.releases.length > 0) await this.release(tx);
    if (this.releases.length > 0) reach("write.children_released");
    if (this.stopped.length > 0) cancelUnsettledNodes(tx, this.stopped);
    if (this.stopped.length > 0) reach("write.nodes_cancelled");
    if (this.events.length > 0) insertEvents(tx, this.events);
    if (this.events.length > 0) reach("write.events_inserted");
    if (this.processed.length > 0) emptyInbox(tx, this.processed);
    if (this.processed.length > 0) reach("write.results_processed");
    if (this.started.length > 0) jobHooks.onJobsStarted(tx, this.started);
    if (this.ended.length > 0) await jobHooks.onJobsEnded(tx, this.ended);
    if (this.stopped.length > 0 && broker.capabilities.withdraw) {
      await broker.withdraw(this.stopped, { tx });
      reach("write.messages_withdrawn");
    }
    for (const [queue, messages] of this.byQueue()) await broker.publish(queue, messages, { tx });
    if (this.messages.length > 0) reach("write.messages_published");
  }

  /** Also called ahead of `write`, before a fan-in reads the outputs of its children. */
  writeCompleted(tx: Transaction): void {
    if (this.completed.length === 0) return;
    completeChildren(tx, this.completed.splice(0));
    reach("write.children_completed");
  }

  private async release(tx: Transaction): Promise<void> {
    const released = await releaseChildren(tx, this.releases);
    const toMessage = new Map(
      this.releases.map((release) => [
        `${release.job_id} ${release.fan_out_id}`,
        release.toMessage,
      ]),
    );
    for (const child of released) {
      const message = toMessage.get(`${child.job_id} ${child.parent_node_id}`)?.(child);
      if (message !== undefined) this.messages.push(message);
    }
  }

  private byQueue(): Map<string, OutMessage[]> {
    const queues = new Map<string, OutMessage[]>();
    for (const { queue, message } of this.messages) {
      const known = queues.get(queue);
      if (known === undefined) queues.set(queue, [message]);
      else known.push(message);
    }
    return queues;
  }
}

/** A job that was settled several times is updated once: from before the first time to after the last. */
function lastOfEachJob(updates: readonly JobUpdate[]): readonly JobUpdate[] {
  const last = new Map<string, JobUpdate>();
  for (const update of updates) {
    const earlier = last.get(update.job_id);
    const { expected_event_seq } = earlier ?? update;
    last.set(update.job_id, earlier === undefined ? update : { ...update, expected_event_seq });
  }
  return [...last.values()];
}

function lastOfEachNode(updates: readonly NodeUpdate[]): readonly NodeUpdate[] {
  const last = new Map<string, NodeUpdate>();
  for (const update of updates) {
    const key = `${update.job_id} ${update.fact.node_id}`;
    const earlier = last.get(key);
    last.set(key, earlier === undefined ? update : { ...update, ...keptOf(earlier, update) });
  }
  return [...last.values()];
}

/** What the row keeps of an earlier update when a later one does not name it. */
function keptOf(earlier: NodeUpdate, later: NodeUpdate) {
  return {
    task_id: later.task_id ?? earlier.task_id,
    worker_id: later.worker_id ?? earlier.worker_id,
    started_at: later.started_at ?? earlier.started_at,
  };
}

const kinds = Object.keys(new WriteBatch()) as (keyof Rows)[];

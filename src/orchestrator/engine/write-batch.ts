import type { Broker, OutMessage } from "../../adapters/broker/broker.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { startProcessing } from "../../adapters/postgres/repositories/asset-jobs.ts";
import type { NewEvent } from "../../adapters/postgres/repositories/events.ts";
import { insertEvents } from "../../adapters/postgres/repositories/events.ts";
import type { Assumption, JobUpdate } from "../../adapters/postgres/repositories/jobs.ts";
import { updateAssumedJobs, updateJobs } from "../../adapters/postgres/repositories/jobs.ts";
import type { NewNode, NodeUpdate, Release } from "../../adapters/postgres/repositories/nodes.ts";
import {
  cancelUnsettledNodes,
  insertNodes,
  releaseChildren,
  updateNodes,
} from "../../adapters/postgres/repositories/nodes.ts";
import { completeChildren, emptyInbox } from "../../adapters/postgres/repositories/work.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { TaskMessage } from "../../core/messages.ts";
import type { Handing } from "../links/handing.ts";
import type { EndedJob } from "../assets/record-ends.ts";
import { recordEnds } from "../assets/record-ends.ts";

/** A task on its way to a queue, with the priority of its job. */
export interface Outgoing {
  readonly message: TaskMessage;
  readonly priority: number;
}

export interface WriteOptions {
  /** Without it all messages go to their queues. */
  readonly handing?: Handing | undefined;
  /** For jobs that are not locked. */
  readonly assumption?: Assumption;
}

/**
 * Everything that one tick decided, for all its jobs, written with array parameters: the number of
 * statements depends on what kinds of change there are and never on how many.
 */
export class WriteBatch {
  readonly newNodes: NewNode[] = [];
  readonly nodeUpdates: NodeUpdate[] = [];
  readonly releases: (Release & { readonly toMessage: ReleasedToMessage })[] = [];
  readonly events: NewEvent[] = [];
  readonly messages: Outgoing[] = [];
  readonly jobUpdates: JobUpdate[] = [];
  /** Jobs that ended early: what is unsettled goes with them. */
  readonly stopped: string[] = [];
  /** Places in the inbox. */
  readonly processed: number[] = [];
  /** Attempts of children that completed. */
  readonly completed: string[] = [];
  /** Of jobs that a correlation names, which may be the request of a platform. */
  readonly reported: string[] = [];
  readonly ended: EndedJob[] = [];

  add(other: WriteBatch): void {
    this.newNodes.push(...other.newNodes);
    this.nodeUpdates.push(...other.nodeUpdates);
    this.releases.push(...other.releases);
    this.events.push(...other.events);
    this.messages.push(...other.messages);
    this.jobUpdates.push(...other.jobUpdates);
    this.stopped.push(...other.stopped);
    this.processed.push(...other.processed);
    this.reported.push(...other.reported);
    this.ended.push(...other.ended);
  }

  async write(
    tx: Transaction,
    broker: Broker,
    { handing, assumption }: WriteOptions = {},
  ): Promise<void> {
    // First of all: whoever else is at one of them is waited for here.
    if (assumption !== undefined) updateAssumedJobs(tx, this.jobUpdates, assumption);
    this.writeCompleted(tx);
    if (this.newNodes.length > 0) insertNodes(tx, this.newNodes);
    if (this.newNodes.length > 0) reach("write.nodes_inserted");
    if (this.nodeUpdates.length > 0) updateNodes(tx, this.nodeUpdates);
    if (this.nodeUpdates.length > 0) reach("write.nodes_updated");
    if (this.releases.length > 0) await this.release(tx);
    if (this.releases.length > 0) reach("write.children_released");
    if (this.stopped.length > 0) cancelUnsettledNodes(tx, this.stopped);
    if (this.stopped.length > 0) reach("write.nodes_cancelled");
    if (this.events.length > 0) insertEvents(tx, this.events);
    if (this.events.length > 0) reach("write.events_inserted");
    if (this.processed.length > 0) emptyInbox(tx, this.processed);
    if (this.processed.length > 0) reach("write.results_processed");
    if (assumption === undefined && this.jobUpdates.length > 0) updateJobs(tx, this.jobUpdates);
    if (this.jobUpdates.length > 0) reach("write.jobs_updated");
    if (this.reported.length > 0) startProcessing(tx, this.reported, "engine");
    if (this.ended.length > 0) await recordEnds(tx, this.ended);
    if (this.stopped.length > 0 && broker.capabilities.withdraw) {
      await broker.withdraw(this.stopped, { tx });
      reach("write.messages_withdrawn");
    }
    for (const [queue, messages] of this.byQueue()) {
      const left = handing?.take(tx, broker, queue, messages) ?? messages;
      if (left.length > 0) await broker.publish(queue, left, { tx });
    }
    if (this.messages.length > 0) reach("write.messages_published");
  }

  /** Also ahead of the rest, for whoever is about to read what the children gave. */
  writeCompleted(tx: Transaction): void {
    if (this.completed.length === 0) return;
    completeChildren(tx, this.completed.splice(0));
    reach("write.children_completed");
  }

  private async release(tx: Transaction): Promise<void> {
    const released = await releaseChildren(tx, this.releases);
    const toMessage = new Map(
      this.releases.map((one) => [`${one.job_id} ${one.fan_out_id}`, one.toMessage]),
    );
    for (const child of released) {
      const make = toMessage.get(`${child.job_id} ${child.parent_node_id}`);
      if (make !== undefined) this.messages.push(make(child));
    }
  }

  private byQueue(): Map<string, OutMessage[]> {
    const queues = new Map<string, OutMessage[]>();
    for (const { message, priority } of this.messages) {
      const out: OutMessage = {
        id: message.task_id,
        group: message.job_id,
        body: JSON.stringify(message),
        priority,
        headers: { timeout_seconds: message.timeout_seconds },
      };
      const queue = queues.get(message.queue);
      if (queue === undefined) queues.set(message.queue, [out]);
      else queue.push(out);
    }
    return queues;
  }
}

type ReleasedToMessage = (child: {
  readonly node_id: string;
  readonly task_id: string;
  readonly attempt: number;
  readonly input_params: TaskMessage["params"];
}) => Outgoing;

import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import type { TaskReport } from "../../../../core/messages.ts";
import type { Batcher } from "../../../runtime/batcher.ts";
import type { DebouncedWriter } from "../../../runtime/debounced-writer.ts";
import type { AbortCause, Delivery, Settled } from "../../broker.ts";
import { DeliveryAborted, timeoutHeader } from "../../broker.ts";
import type { LeasedMessage, LeaseToken } from "../sql/message-columns.ts";
import { holdLease } from "../sql/progress.ts";
import type { Progress } from "../sql/progress.ts";
import type { ReportOrigin, ReportWriter } from "./report-writer.ts";
import { deadLetter, release, renew, retry } from "../sql/settle.ts";

export interface DeliveryDependencies {
  readonly db: Queryable;
  readonly completions: Batcher<LeaseToken, Settled>;
  readonly reports: ReportWriter;
  readonly progress: DebouncedWriter<Progress>;
}

const graceAfterTimeoutMs = 30_000;
const longestHoldMs = 6 * 3_600_000;

/** A leased message that a fetch or a push brought to a subscription. */
export interface ReceivedMessage extends LeasedMessage {
  /** The push connection that brought it; absent: it was fetched from the queue. */
  readonly pushedBy?: object;
}

/**
 * A leased message in the hands of this process. A class: an object literal with an accessor takes a
 * microsecond to make, and its fifteen functions are held until the report is answered. Whatever a
 * delivery holds meanwhile is copied by the garbage collector, so a report makes few promises.
 */
export class HeldDelivery implements Delivery, ReportOrigin {
  readonly id: string;
  readonly queue: string;
  readonly body: string;
  readonly headers: Delivery["headers"];
  readonly deliveryCount: number;
  readonly lease: LeaseToken;
  readonly leased_at: string;
  readonly pushedBy: object | undefined;
  /** When it was fetched or pushed, by `performance.now()`. */
  takenAt = 0;
  /** When its handler started to occupy a slot; undefined: it occupies none. */
  startedAt: number | undefined;
  private readonly deps: DeliveryDependencies;
  /** Called when the handler starts to settle the delivery: its slot is free. */
  private readonly onSettling: (held: HeldDelivery) => void;
  private listeners: ((reason: DeliveryAborted) => void)[] | undefined;
  private controller: AbortController | undefined;
  private aborted: DeliveryAborted | undefined;
  private settled = false;

  constructor(
    deps: DeliveryDependencies,
    queue: string,
    message: ReceivedMessage,
    onSettling: (held: HeldDelivery) => void = () => undefined,
  ) {
    const { message_id, deliveries, released, lost } = message;
    this.id = message.message_key;
    this.queue = queue;
    this.body = message.body;
    this.headers = message.headers ?? {};
    this.deliveryCount = deliveries - released + lost;
    this.lease = { message_id, deliveries };
    this.deps = deps;
    this.leased_at = message.leased_at;
    this.pushedBy = message.pushedBy;
    this.onSettling = onSettling;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.aborted !== undefined) this.controller.abort(this.aborted);
    }
    return this.controller.signal;
  }

  /** How long its lease is renewed. */
  get holdMs(): number {
    const { headers } = this;
    const timeout = Object.hasOwn(headers, timeoutHeader) ? Number(headers[timeoutHeader]) : NaN;
    return timeout > 0 ? timeout * 1000 + graceAfterTimeoutMs : longestHoldMs;
  }

  onAbort(listener: (reason: DeliveryAborted) => void): () => void {
    (this.listeners ??= []).push(listener);
    if (this.aborted !== undefined) listener(this.aborted);
    return () => {
      this.listeners = this.listeners?.filter((other) => other !== listener);
    };
  }

  complete(): Promise<Settled> {
    return this.settleOnce(() => this.deps.completions.add(this.lease));
  }

  report(report: TaskReport): Promise<Settled> {
    return this.settleOnce(() => this.deps.reports.write(report, this));
  }

  retry(options: Parameters<Delivery["retry"]>[0] = {}): Promise<Settled> {
    return this.settleOnce(() => retry(this.deps.db, this.lease, options));
  }

  deadLetter(reason: string, detail?: string): Promise<Settled> {
    return this.settleOnce(() => deadLetter(this.deps.db, this.lease, reason, detail));
  }

  release(): Promise<Settled> {
    return this.settleOnce(async () => (await release(this.deps.db, [this.lease]))[0] ?? "lost");
  }

  async renew(): Promise<Settled> {
    return this.settled ? "lost" : renew(this.deps.db, this.lease);
  }

  progress(percent: number, message: string | null): void {
    const { lease } = this;
    this.deps.progress.add(String(lease.message_id), { lease, percent, message });
  }

  isHeld(tx: Transaction): Promise<boolean> {
    return holdLease(tx, this.lease);
  }

  isSettled(): boolean {
    return this.settled;
  }

  abort(cause: AbortCause): void {
    if (this.aborted !== undefined) return;
    this.aborted = new DeliveryAborted(cause);
    this.controller?.abort(this.aborted);
    for (const listener of this.listeners ?? []) listener(this.aborted);
  }

  /** Makes every later call that settles the delivery answer `lost` without a query. */
  giveUp(): void {
    this.settled = true;
  }

  /** Runs the first `settle`; later ones answer `lost`. */
  private settleOnce(settle: () => Promise<Settled>): Promise<Settled> {
    if (this.settled) return Promise.resolve("lost");
    this.settled = true;
    this.onSettling(this);
    return settle().catch((error: unknown) => {
      // The statement may have been committed. The fence makes a second attempt safe.
      this.settled = false;
      throw error;
    });
  }
}

import type { Queryable } from "../../../postgres/queryable.ts";
import type { Batcher } from "../../../runtime/batcher.ts";
import type { DebouncedWriter } from "../../../runtime/debounced-writer.ts";
import type { AbortCause, Delivery, Settled } from "../../broker.ts";
import { DeliveryAborted } from "../../broker.ts";
import type { LeasedMessage, LeaseToken } from "../sql/message-columns.ts";
import { holdLease } from "../sql/progress.ts";
import type { Progress } from "../sql/progress.ts";
import type { ReportWriter } from "./report-writer.ts";
import { deadLetter, release, renew, retry } from "../sql/settle.ts";

export interface HeldDelivery {
  readonly delivery: Delivery;
  readonly lease: LeaseToken;
  readonly isSettled: () => boolean;
  abort(cause: AbortCause): void;
  /** Makes every later call that settles the delivery answer `lost` without a query. */
  giveUp(): void;
}

export interface DeliveryDependencies {
  readonly db: Queryable;
  readonly completions: Batcher<LeaseToken, Settled>;
  readonly reports: ReportWriter;
  readonly progress: DebouncedWriter<Progress>;
}

/** A leased message that a fetch or a push brought to a subscription. */
export interface ReceivedMessage extends LeasedMessage {
  /** The push connection that brought it; absent: it was fetched from the queue. */
  readonly pushedBy?: object;
}

export interface DeliveryEvents {
  /** Called when the handler starts to settle the delivery: its slot is free. */
  readonly onSettling: () => void;
}

export function createDelivery(
  { db, completions, reports, progress }: DeliveryDependencies,
  queue: string,
  message: ReceivedMessage,
  { onSettling }: DeliveryEvents,
): HeldDelivery {
  const { message_id, deliveries, leased_at, pushedBy } = message;
  const lease: LeaseToken = { message_id, deliveries };
  let listeners: Set<(reason: DeliveryAborted) => void> | undefined;
  let controller: AbortController | undefined;
  let aborted: DeliveryAborted | undefined;
  let settled = false;

  /** Runs the first `settle`; later ones answer `lost`. */
  async function settleOnce(settle: () => Promise<Settled>): Promise<Settled> {
    if (settled) return "lost";
    settled = true;
    onSettling();
    try {
      return await settle();
    } catch (error) {
      // The statement may have been committed. The fence makes a second attempt safe.
      settled = false;
      throw error;
    }
  }

  const delivery: Delivery = {
    id: message.message_key,
    queue,
    body: message.body,
    headers: message.headers ?? {},
    deliveryCount: message.deliveries - message.released + message.lost,
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (aborted !== undefined) controller.abort(aborted);
      }
      return controller.signal;
    },
    onAbort: (listener) => {
      (listeners ??= new Set()).add(listener);
      if (aborted !== undefined) listener(aborted);
      return () => {
        listeners?.delete(listener);
      };
    },
    complete: () => settleOnce(() => completions.add(lease)),
    report: (report) =>
      settleOnce(() => reports.write({ ...report, lease }, { leased_at, pushedBy })),
    retry: (options = {}) => settleOnce(() => retry(db, lease, options)),
    deadLetter: (reason, detail) => settleOnce(() => deadLetter(db, lease, reason, detail)),
    release: () => settleOnce(async () => (await release(db, [lease]))[0] ?? "lost"),
    renew: async () => (settled ? "lost" : renew(db, lease)),
    progress: (percent, text) => {
      progress.add(String(message_id), { lease, percent, message: text });
    },
    isHeld: (tx) => holdLease(tx, lease),
  };
  return {
    delivery,
    lease,
    isSettled: () => settled,
    abort: (cause) => {
      if (aborted !== undefined) return;
      aborted = new DeliveryAborted(cause);
      controller?.abort(aborted);
      for (const listener of listeners ?? []) listener(aborted);
    },
    giveUp: () => {
      settled = true;
    },
  };
}

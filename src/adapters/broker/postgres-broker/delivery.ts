import type { Batcher } from "../../runtime/batcher.ts";
import type { Queryable } from "../../postgres/queryable.ts";
import { DeliveryAborted } from "../broker.ts";
import type { AbortCause, Delivery, LeaseToken, Settled } from "../broker.ts";
import type { Fetched } from "./fetch.ts";
import { deadLetter, release, renew, retry } from "./settle.ts";

export interface HeldDelivery {
  readonly delivery: Delivery;
  readonly lease: LeaseToken;
  readonly isSettled: () => boolean;
  abort(cause: AbortCause): void;
  /** From now on every settling answers `lost`, without asking. */
  giveUp(): void;
}

export interface DeliveryDependencies {
  readonly db: Queryable;
  readonly completions: Batcher<LeaseToken, Settled>;
}

export interface DeliveryEvents {
  /** The work is over and only its settling is left: the slot is free. */
  readonly onSettling: () => void;
}

export function createDelivery(
  { db, completions }: DeliveryDependencies,
  queue: string,
  message: Fetched,
  { onSettling }: DeliveryEvents,
): HeldDelivery {
  const { message_id, deliveries, leased_at, via } = message;
  const lease: LeaseToken = {
    ...{ message_id, deliveries, leased_at },
    ...(via === undefined ? {} : { via }),
  };
  let told: Set<(reason: DeliveryAborted) => void> | undefined;
  let controller: AbortController | undefined;
  let aborted: DeliveryAborted | undefined;
  let settled = false;

  /** Only the first settling counts; a second one finds the lease gone. */
  async function once(settle: () => Promise<Settled>): Promise<Settled> {
    if (settled) return "lost";
    settled = true;
    onSettling();
    try {
      return await settle();
    } catch (error) {
      // Nobody knows whether it happened. The fence makes it safe to ask once more.
      settled = false;
      throw error;
    }
  }

  const delivery: Delivery = {
    id: message.message_key,
    queue,
    body: message.body,
    headers: message.headers ?? {},
    deliveryCount: message.deliveries - message.handed_back,
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (aborted !== undefined) controller.abort(aborted);
      }
      return controller.signal;
    },
    onAbort: (tell) => {
      (told ??= new Set()).add(tell);
      if (aborted !== undefined) tell(aborted);
      return () => {
        told?.delete(tell);
      };
    },
    complete: () => once(() => completions.add(lease)),
    retry: (options = {}) => once(() => retry(db, lease, options)),
    deadLetter: (reason, detail) => once(() => deadLetter(db, lease, reason, detail)),
    release: () => once(async () => (await release(db, [lease]))[0] ?? "lost"),
    renew: async () => (settled ? "lost" : renew(db, lease)),
    lease,
    settleWith: (settle) => once(() => settle(lease)),
  };
  return {
    delivery,
    lease,
    isSettled: () => settled,
    abort: (cause) => {
      if (aborted !== undefined) return;
      aborted = new DeliveryAborted(cause);
      controller?.abort(aborted);
      for (const tell of told ?? []) tell(aborted);
    },
    giveUp: () => {
      settled = true;
    },
  };
}

/**
 * Messages on their way into the hands of workers, within one transaction: their seats are taken
 * when they are written, and they leave when the transaction is committed.
 */
import type { Broker, OutMessage } from "../../adapters/broker/broker.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { HandedMessage } from "../../core/link.ts";
import type { Links, Seat } from "./links.ts";

interface Part {
  readonly queue: string;
  readonly seats: readonly Seat[];
  readonly written: Promise<readonly HandedMessage[]>;
}

export class Handing {
  private readonly links: Links;
  private parts: Part[] = [];

  constructor(links: Links) {
    this.links = links;
  }

  /** Writes as many as somebody waits for, and answers those that nobody does. */
  take(
    tx: Transaction,
    broker: Broker,
    queue: string,
    messages: readonly OutMessage[],
  ): readonly OutMessage[] {
    const seats =
      broker.publishHeld === undefined ? [] : this.links.reserve(queue, messages.length);
    const holders = seats.flatMap(({ link, count }) =>
      Array.from({ length: count }, () => link.workerId),
    );
    if (holders.length === 0 || broker.publishHeld === undefined) return messages;
    const urgentFirst =
      holders.length < messages.length
        ? messages.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))
        : messages;
    const handed = urgentFirst.slice(0, holders.length);
    const written = broker.publishHeld(queue, handed, holders, { tx });
    // Its failure is the commit's.
    written.catch(() => undefined);
    this.parts.push({ queue, seats, written });
    return urgentFirst.slice(holders.length);
  }

  /** The transaction did not happen. */
  undo(): void {
    for (const { queue, seats } of this.parts) this.links.unreserve(queue, seats);
    this.parts = [];
  }

  /** The transaction is committed. */
  async leave(): Promise<void> {
    if (this.parts.length === 0) return;
    reach("link.before_hand");
    for (const { queue, seats, written } of this.parts) {
      const messages = await written;
      let from = 0;
      for (const seat of seats) {
        this.links.handOver(queue, seat, messages.slice(from, from + seat.count));
        from += seat.count;
      }
    }
    this.parts = [];
  }
}

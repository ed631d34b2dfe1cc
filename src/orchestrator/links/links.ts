/**
 * The workers that are connected to this orchestrator: how many messages each waits for, and what
 * they told.
 */
import type { LeaseToken } from "../../adapters/broker/broker.ts";
import type { LeasedResultRow } from "../../adapters/postgres/repositories/reports.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { FromOrchestrator, FromWorker, HandedMessage, Settling } from "../../core/link.ts";
import { toLetters } from "../../core/link.ts";

/** One connected worker. */
export interface Link {
  readonly workerId: string;
  /** By queue: how many messages it still takes. */
  readonly granted: Map<string, number>;
  /** False: it is gone, and has not heard it. */
  send(line: FromOrchestrator): boolean;
}

/** Places that workers keep free for messages of a queue. */
export interface Seat {
  readonly link: Link;
  readonly count: number;
}

export interface Told {
  readonly result: LeasedResultRow;
  readonly from: Link;
}

export interface LinksOptions {
  /** Something was told. */
  readonly onTold: () => void;
  /** Puts back what a worker was to have and did not hear of. */
  readonly giveBack: (leases: readonly LeaseToken[]) => void;
}

export interface LinkCounters {
  handed: number;
  told: number;
}

export class Links {
  readonly counters: LinkCounters = { handed: 0, told: 0 };
  private readonly links = new Set<Link>();
  private told: Told[] = [];
  private readonly options: LinksOptions;

  constructor(options: LinksOptions) {
    this.options = options;
  }

  add(link: Link): void {
    this.links.add(link);
  }

  remove(link: Link): void {
    this.links.delete(link);
    link.granted.clear();
    this.told = this.told.filter(({ from }) => from !== link);
  }

  hear(link: Link, { told = [], grants = {}, bye = false }: FromWorker): void {
    for (const [queue, count] of Object.entries(grants)) {
      link.granted.set(queue, (link.granted.get(queue) ?? 0) + count);
    }
    for (const result of told) {
      this.told.push({ result: { ...result, worker_id: link.workerId }, from: link });
    }
    if (bye) {
      // It still tells what it does; the answer follows everything that was handed over before.
      link.granted.clear();
      this.links.delete(link);
      link.send({ bye: true });
    }
    if (told.length === 0) return;
    reach("link.told");
    this.options.onTold();
  }

  /** Spreads so many messages over those who wait for some; what nobody takes goes to the queue. */
  reserve(queue: string, count: number): readonly Seat[] {
    const waiting = [...this.links].filter((link) => (link.granted.get(queue) ?? 0) > 0);
    const seats: Seat[] = [];
    let left = count;
    waiting.forEach((link, index) => {
      const granted = link.granted.get(queue) ?? 0;
      const share = Math.min(granted, Math.ceil(left / (waiting.length - index)));
      if (share === 0) return;
      link.granted.set(queue, granted - share);
      seats.push({ link, count: share });
      left -= share;
    });
    return seats;
  }

  unreserve(queue: string, seats: readonly Seat[]): void {
    for (const { link, count } of seats) {
      if (this.links.has(link)) link.granted.set(queue, (link.granted.get(queue) ?? 0) + count);
    }
  }

  /** When they are committed. */
  handOver(queue: string, { link }: Seat, messages: readonly HandedMessage[]): void {
    if (messages.length === 0) return;
    if (link.send({ queue, messages })) this.counters.handed += messages.length;
    else this.options.giveBack(messages);
  }

  takeTold(limit: number): readonly Told[] {
    return this.told.splice(0, limit);
  }

  /** For each in the order in which they were taken: workers count on it. */
  answer(told: readonly Told[], settled: readonly Settling[]): void {
    const byLink = new Map<Link, Settling[]>();
    told.forEach(({ from }, index) => {
      const one = settled[index] ?? "again";
      if (one === "ok") this.counters.told += 1;
      const answers = byLink.get(from);
      if (answers === undefined) byLink.set(from, [one]);
      else answers.push(one);
    });
    for (const [link, answers] of byLink) link.send({ settled: toLetters(answers) });
  }
}

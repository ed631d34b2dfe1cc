/**
 * Connections to the orchestrators, which are found in the database. Whoever is connected may hand
 * messages over, as many as were granted, and is told results. All of it is only the shorter way:
 * without a link everything goes through the database.
 */
import { hostname } from "node:os";
import type { HandedConsumer, Hands, LeaseToken } from "../adapters/broker/broker.ts";
import type { Hear } from "../adapters/postgres/share-listener.ts";
import type { Queryable } from "../adapters/postgres/queryable.ts";
import { findLinks, linksChannel } from "../adapters/postgres/repositories/ownership.ts";
import type { LinkRow } from "../adapters/postgres/repositories/ownership.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createService } from "../adapters/runtime/service.ts";
import type { Settling, ToldResult } from "../core/link.ts";
import { openLink } from "./open-link.ts";
import type { OpenLink } from "./open-link.ts";

export interface WorkerLinks extends Hands {
  /** Undefined: there is no link for it. */
  tell(result: ToldResult & { readonly lease: LeaseToken }): Promise<Settling> | undefined;
  /** Resolves when nobody hands anything over any more. Results can still be told. */
  sayBye(): Promise<void>;
  close(): Promise<void>;
}

export interface WorkerLinksOptions {
  readonly db: Queryable;
  readonly hear: Hear;
  readonly workerId: string;
  readonly log: Logger;
}

const lookEveryMs = 10_000;

/** The loopback of another machine is not ours. */
function isInReach({ host, link_address }: LinkRow): boolean {
  return host === hostname() || !/^(?:127\.|localhost:|::1:)/.test(link_address);
}

export function createWorkerLinks({ db, hear, workerId, log }: WorkerLinksOptions): WorkerLinks {
  const links = new Map<string, OpenLink>();
  const consumers = new Map<string, HandedConsumer>();
  let isLeaving = false;

  const looking = createService({ name: "links", log, intervalMs: lookEveryMs, runOnce: look });
  const ear = hear([linksChannel], () => {
    looking.wake();
  });
  looking.start();

  async function look(): Promise<void> {
    for (const row of await findLinks(db)) {
      if (!links.has(row.owner_id) && !isLeaving && isInReach(row)) open(row);
    }
  }

  function open({ owner_id, link_address, link_key }: LinkRow): void {
    const link: OpenLink = openLink(
      { address: link_address, key: link_key, workerId },
      {
        onOpen: () => {
          log.debug({ orchestrator: owner_id }, "linked");
          grantAll();
        },
        onMessages: (queue, messages) => {
          consumers.get(queue)?.take(messages, link);
        },
        onClose: (reason, wasOpen) => {
          links.delete(owner_id);
          log.debug({ orchestrator: owner_id, reason }, "not linked; the database is the way");
          if (wasOpen) void adoptAll();
        },
      },
    );
    links.set(owner_id, link);
  }

  /** What was leased to us just before a link broke is ours, although nobody told us. */
  async function adoptAll(): Promise<void> {
    if (isLeaving) return;
    for (const consumer of consumers.values()) {
      await consumer.adopt().catch((err: unknown) => {
        log.warn({ err }, "not looked for what was handed over; the leases will run out");
      });
    }
    grantAll();
  }

  function grantAll(): void {
    for (const queue of consumers.keys()) grant(queue);
  }

  /** Each orchestrator may fill its part of what is free; told when half of it is used up. */
  function grant(queue: string): void {
    const open = [...links.values()].filter((link) => link.isOpen());
    const room = isLeaving || open.length === 0 ? 0 : (consumers.get(queue)?.room() ?? 0);
    open.forEach((link, index) => {
      const part = Math.floor((room + open.length - 1 - index) / open.length);
      const granted = link.granted(queue);
      if (part > 0 && granted <= part / 2) link.grant(queue, part - granted);
    });
  }

  return {
    attach(queue, consumer) {
      consumers.set(queue, consumer);
      return {
        changed: () => {
          grant(queue);
        },
        close: () => {
          consumers.delete(queue);
        },
      };
    },
    tell(result) {
      const { via } = result.lease;
      const open = [...links.values()].filter((link) => link.isOpen());
      // Of a message from the queue nobody knows whose it is, unless there is only one.
      const link = open.find((one) => one === via) ?? (open.length === 1 ? open[0] : undefined);
      return link?.tell(result);
    },
    async sayBye() {
      isLeaving = true;
      await Promise.all([...links.values()].map((link) => link.sayBye()));
    },
    async close() {
      isLeaving = true;
      await ear.close();
      await looking.stop();
      for (const link of links.values()) link.close("the worker stops");
    },
  };
}

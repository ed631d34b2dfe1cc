/**
 * Fetches messages from a mark on, which is the last message that the same consumer has fetched.
 *
 * PostgreSQL keeps the index entries of fetched messages until the table is vacuumed. A fetch from the front
 * of the queue steps over all of them: behind 100,000 it took three times as long as behind none.
 *
 * A message can also become ready before the mark: when it is returned to its queue, or when it was published
 * in a transaction that committed late. So a fetch starts at the front again when the last one found fewer
 * messages than it wanted, and after a while in any case. That while grows with the time that a fetch from
 * the front takes, so that a long queue spends a twentieth of its time on them at most.
 */
import { LRUCache } from "lru-cache";
import type { Queryable } from "../../../postgres/queryable.ts";
import type { FetchOptions, FetchResult, QueueMark } from "../sql/fetch.ts";
import { fetchMessages, frontOfQueue } from "../sql/fetch.ts";

export type FetchFromMark = (
  queue: string,
  limit: number,
  options: FetchOptions,
) => Promise<FetchResult>;

interface Kept {
  readonly mark: QueueMark;
  /** When a fetch starts at the front again. */
  readonly until: number;
}

const leastMs = 100;
const longestMs = 5000;
const frontFactor = 20;

export function createFetchFromMark(db: () => Queryable): FetchFromMark {
  /** By consumer and queue: consumers accept different messages. */
  const marks = new LRUCache<string, Kept>({ max: 1000 });

  return async (queue, limit, options) => {
    const key = `${options.holder} ${queue}`;
    const begun = performance.now();
    const kept = marks.get(key);
    const isMarked = kept !== undefined && begun < kept.until;
    const found = await fetchMessages(db(), queue, limit, {
      ...options,
      from: isMarked ? kept.mark : frontOfQueue,
    });
    const last = found.messages.at(-1);
    if (last !== undefined && found.messages.length === limit) {
      const tookMs = performance.now() - begun;
      const until = begun + Math.min(longestMs, Math.max(leastMs, frontFactor * tookMs));
      marks.set(key, { mark: last, until: isMarked ? kept.until : until });
      return found;
    }
    marks.delete(key);
    if (!isMarked) return found;
    const rest = limit - found.messages.length;
    const front = await fetchMessages(db(), queue, rest, { ...options, from: frontOfQueue }).catch(
      (error: unknown) => {
        // Messages in hand are answered, because they are leased; the next fetch rejects with the same error.
        if (last === undefined) throw error;
        return { ...found, messages: [] };
      },
    );
    return { ...front, messages: [...found.messages, ...front.messages] };
  };
}

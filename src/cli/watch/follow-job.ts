/**
 * A job's stream that outlives the orchestrator that serves it: when the connection breaks, it is
 * opened again behind the last message. Only the first attempt may fail, so that a wrong address is
 * told at once.
 */
import { setTimeout as pause } from "node:timers/promises";
import { ApiError } from "../../core/api/api-error.ts";
import type { Client } from "../../core/api/client.ts";
import type { StreamMessage } from "../../core/api/stream.ts";
import { backoffDelay } from "../../core/backoff.ts";
import { isFinished } from "../../core/model/job.ts";

export interface FollowOptions {
  readonly client: Client;
  readonly jobId: string;
  readonly signal: AbortSignal;
  /** Begin behind this event; without it the first message is a snapshot. */
  readonly after?: number;
  /** Told when the connection is lost, and when it is back. */
  readonly onConnection?: (isThere: boolean) => void;
}

const firstPauseMs = 200;
const longestPauseMs = 2000;

export async function* followJob(options: FollowOptions): AsyncGenerator<StreamMessage> {
  const { client, jobId, signal, onConnection } = options;
  let after = options.after;
  let failures = 0;
  let hasAnswered = false;
  const isOver = () => signal.aborted;
  while (!isOver()) {
    try {
      for await (const message of openStream(options, after)) {
        if (failures > 0) onConnection?.(true);
        failures = 0;
        hasAnswered = true;
        if (message.type !== "progress") after = message.seq;
        yield message;
        if (message.type === "end") return;
      }
      // Ended without an end: the orchestrator is going away, or there was nothing behind `after`.
      const job = await client.getJob({ params: { job_id: jobId }, signal });
      if (isFinished(job.status) && (after ?? -1) >= job.event_seq) {
        yield { type: "end", seq: job.event_seq, status: job.status };
        return;
      }
    } catch (error) {
      if (isOver()) return;
      if (!hasAnswered || !isConnectionLost(error)) throw error;
    }
    if (failures++ === 0) onConnection?.(false);
    const wait = backoffDelay(failures, firstPauseMs, longestPauseMs);
    await pause(wait, undefined, { signal }).catch(() => undefined);
  }
}

function openStream(
  { client, jobId, signal }: FollowOptions,
  after: number | undefined,
): AsyncIterable<StreamMessage> {
  return client.streamJob({
    params: { job_id: jobId },
    query: after === undefined ? {} : { after },
    signal,
  });
}

/** No answer, one of a proxy, or one that it is busy; also a connection that broke off. */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.code === "UNREACHABLE" || error.code === "UNAVAILABLE";
}

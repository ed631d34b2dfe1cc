/**
 * Yields the messages of a job's stream. When the connection breaks, the stream is opened again
 * behind the last message, perhaps at another orchestrator. Only the first attempt may reject, so
 * that the user sees a wrong address at once.
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
  /** The stream starts behind this event; undefined: its first message is a snapshot. */
  readonly after?: number;
  /** Called with false when the connection is lost, and with true when it is back. */
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
      // The stream closed without an end message: its orchestrator stops, or the job was finished.
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

/** True: no answer, a proxy's answer, a busy orchestrator, or a connection that broke. */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.code === "UNREACHABLE" || error.code === "UNAVAILABLE";
}

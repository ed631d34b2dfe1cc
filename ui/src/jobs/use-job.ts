/**
 * A job live. The stream is resumed behind the last event that arrived, so a lost connection costs
 * time and no event. Messages are gathered for a moment before the page is drawn again: a fan-out
 * of ten thousand sends many, and nobody reads faster than ten pictures a second.
 */
import { useCallback, useEffect, useState } from "react";
import type { StreamMessage } from "../../../src/core/api/stream.ts";
import { isFinished } from "../../../src/core/model/job.ts";
import { ApiError, api } from "../shared/api.ts";
import type { LiveJob } from "./apply-message.ts";
import { applyMessage, begin } from "./apply-message.ts";

export type StreamState = "connecting" | "live" | "reconnecting" | "ended";

export interface WatchedJob {
  readonly live: LiveJob | undefined;
  readonly state: StreamState;
  readonly error: unknown;
  readonly reload: () => void;
}

const drawEveryMs = 100;
const firstPauseMs = 500;
const longestPauseMs = 8000;

interface Kept {
  readonly jobId: string;
  readonly live: LiveJob | undefined;
  readonly state: StreamState;
  readonly error: unknown;
}

export function useJob(jobId: string): WatchedJob {
  const [stored, setKept] = useState<Kept>(() => fresh(jobId));
  const kept = stored.jobId === jobId ? stored : fresh(jobId);
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => {
    setTurn((before) => before + 1);
  }, []);

  useEffect(() => {
    const aborter = new AbortController();
    const change = (next: Partial<Omit<Kept, "jobId">>) => {
      if (aborter.signal.aborted) return;
      setKept((before) => ({ ...(before.jobId === jobId ? before : fresh(jobId)), ...next }));
    };
    void follow(jobId, aborter.signal, change);
    return () => {
      aborter.abort();
    };
  }, [jobId, turn]);

  return { live: kept.live, state: kept.state, error: kept.error, reload };
}

function fresh(jobId: string): Kept {
  return { jobId, live: undefined, state: "connecting", error: undefined };
}

async function follow(
  jobId: string,
  signal: AbortSignal,
  change: (next: Partial<Omit<Kept, "jobId">>) => void,
): Promise<void> {
  let live: LiveJob | undefined;
  let timer: number | undefined;
  let pauseMs = firstPauseMs;
  const draw = () => {
    timer = undefined;
    change({ live, state: "live", error: undefined });
  };
  const take = (message: StreamMessage) => {
    live = applyMessage(live, message);
    timer ??= window.setTimeout(draw, drawEveryMs);
  };
  try {
    while (!signal.aborted) {
      try {
        const query = live === undefined ? {} : { after: live.seq };
        const stream = api.streamJob({ params: { job_id: jobId }, query, signal });
        for await (const message of stream) {
          pauseMs = firstPauseMs;
          take(message);
        }
        // A stream without an end was cut; one that had nothing more to say answers 204.
        if (live?.ended === true || (live !== undefined && isFinished(live.job.status))) break;
      } catch (error) {
        if (isOver(signal)) return;
        const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
        if (refused) {
          change({ error, state: "ended" });
          return;
        }
      }
      change({ live, state: "reconnecting" });
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    if (signal.aborted) return;
    // Its result, its error and its times stand in the row, not in the events.
    const job = await api.getJob({ params: { job_id: jobId }, signal });
    change({ live: { ...begin(job), events: live?.events ?? [], ended: true }, state: "ended" });
  } catch (error) {
    change({ error });
  } finally {
    window.clearTimeout(timer);
  }
}

/** Asked anew each time: it changes while others are awaited. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      resolve();
    });
  });
}

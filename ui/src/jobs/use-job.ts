/**
 * A job that is updated live. The stream of its events is resumed after the last event that arrived,
 * so a lost connection costs time and no event. The state is written to the query cache at most every
 * 100 ms: a fan-out of ten thousand children sends far more messages than a page can draw.
 */
import { skipToken, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { StreamMessage } from "../../../src/core/api/stream.ts";
import { isFinished } from "../../../src/core/model/job.ts";
import { ApiError, api, session } from "../shared/api.ts";
import { invalidate, queryClient } from "../shared/query-client.ts";
import { useStore } from "../shared/store.ts";
import type { LiveJob } from "./apply-message.ts";
import { applyMessage, startLive } from "./apply-message.ts";

interface Stream {
  readonly state: "connecting" | "live" | "reconnecting" | "ended";
  readonly error: unknown;
}

interface WatchedJob extends Stream {
  readonly live: LiveJob | undefined;
  readonly reload: () => void;
}

const writeEveryMs = 100;
const firstPauseMs = 500;
const longestPauseMs = 8000;

export function useJob(jobId: string): WatchedJob {
  const { data: live } = useQuery<LiveJob>({
    queryKey: liveKey(jobId),
    queryFn: skipToken,
    structuralSharing: false,
  });
  const [stream, setStream] = useState<Stream>({ state: "connecting", error: undefined });
  const [turn, setTurn] = useState(0);
  const user = useStore(session)?.name;
  const reload = useCallback(() => {
    setTurn((before) => before + 1);
  }, []);

  useEffect(() => {
    if (user == null) return;
    const aborter = new AbortController();
    void followJob(jobId, aborter.signal, (next) => {
      if (!aborter.signal.aborted) setStream((before) => ({ ...before, ...next }));
    });
    return () => {
      aborter.abort();
    };
  }, [jobId, turn, user]);

  return { live, ...stream, reload };
}

function liveKey(jobId: string): readonly string[] {
  return ["job", jobId, "live"];
}

async function followJob(
  jobId: string,
  signal: AbortSignal,
  onStream: (next: Partial<Stream>) => void,
): Promise<void> {
  let live: LiveJob | undefined;
  let timer: number | undefined;
  let pauseMs = firstPauseMs;
  const write = () => {
    window.clearTimeout(timer);
    timer = undefined;
    if (live !== undefined) writeLive(jobId, live);
  };
  const receive = (message: StreamMessage) => {
    live = applyMessage(live, message);
    timer ??= window.setTimeout(() => {
      write();
      onStream({ state: "live", error: undefined });
    }, writeEveryMs);
  };
  try {
    while (!signal.aborted) {
      try {
        const query = live === undefined ? {} : { after: live.seq };
        const stream = api.streamJob({ params: { job_id: jobId }, query, signal });
        for await (const message of stream) {
          pauseMs = firstPauseMs;
          receive(message);
        }
        // A stream without an end message was cut. The stream of a finished job may be empty (204).
        if (live?.ended === true || (live !== undefined && isFinished(live.job.status))) break;
      } catch (error) {
        if (isAborted(signal)) return;
        const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
        if (refused) {
          onStream({ error, state: "ended" });
          return;
        }
      }
      write();
      onStream({ state: "reconnecting" });
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    await readEnded(jobId, signal);
    onStream({ state: "ended" });
  } catch (error) {
    onStream({ error });
  } finally {
    window.clearTimeout(timer);
  }
}

/**
 * Reads a finished job once more, because its result, error and times are in its row and not in its
 * events. Tries again while the server is away.
 */
async function readEnded(jobId: string, signal: AbortSignal): Promise<void> {
  for (
    let pauseMs = firstPauseMs;
    !signal.aborted;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  ) {
    try {
      const job = await api.getJob({ params: { job_id: jobId }, signal });
      writeLive(jobId, { ...startLive(job), ended: true });
      return;
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) throw error;
    }
    await pause(pauseMs, signal);
  }
}

/** Also invalidates what the page read of the nodes whose status or attempt changed. */
function writeLive(jobId: string, live: LiveJob): void {
  const before = queryClient.getQueryData<LiveJob>(liveKey(jobId));
  queryClient.setQueryData(liveKey(jobId), live);
  if (before === undefined) return;
  if (live.ended && !before.ended) {
    invalidate("job", jobId, "nodes");
    return;
  }
  const known = new Map(before.job.nodes.map((node) => [node.node_id, node]));
  const changed = new Set<unknown>();
  for (const node of live.job.nodes) {
    const old = known.get(node.node_id);
    if (old?.status !== node.status || old.attempt !== node.attempt) changed.add(node.node_id);
  }
  if (changed.size === 0) return;
  void queryClient.invalidateQueries({
    queryKey: ["job", jobId, "nodes"],
    predicate: ({ queryKey }) => changed.has(queryKey[3]),
  });
}

/** A function, because the compiler would not expect the signal to change during an await. */
function isAborted(signal: AbortSignal): boolean {
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

/**
 * Live streams of jobs, any number of them over one LISTEN connection.
 *
 * A notification says only that something was committed. Each stream then reads the events behind
 * the last one that its client has, and the nodes they changed: so its messages depend on the tables
 * alone, and a lost notification delays an event but never loses it. A stream reads only when its
 * client has taken the previous message; a slow client gets fewer, larger messages and does not slow
 * the other streams. Streams of one job that are equally far share what is read and its text: fifty
 * clients that watch a job cost little more than one.
 *
 * The progress that workers report is stored in the leases and has no events. While there are
 * streams, one query a second reads the leases of all their jobs together.
 */
import type { Database } from "../../adapters/postgres/database.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import { readJobNodes } from "../../adapters/postgres/queries/job-nodes.ts";
import { findJob } from "../../adapters/postgres/queries/jobs.ts";
import { readNewEvents } from "../../adapters/postgres/queries/new-events.ts";
import { readCurrentTasks } from "../../adapters/postgres/queries/tasks.ts";
import type { CurrentTask, JobEvent } from "../../core/api/job-schemas.ts";
import type { StreamMessage } from "../../core/api/stream.ts";
import { showJob } from "./show-values.ts";
import { isFinished } from "../../core/model/job.ts";

export interface JobStreams {
  /** Without `after` the first message is a snapshot; with it, the events behind that number. */
  open(jobId: string, after: number | undefined, signal: AbortSignal): AsyncIterable<StreamMessage>;
  /** Number of open streams. */
  readonly size: number;
  close(): void;
}

export interface JobStreamsOptions {
  readonly db: Database;
  readonly graphs: GraphCache;
  readonly traceUrlTemplate?: string | undefined;
  /** Calls `wake` after every commit of events, from now until it is closed. */
  readonly listen: (wake: () => void) => { close(): Promise<void> };
  readonly progressEveryMs?: number;
  /** Streams also read at this interval, in case notifications are lost. */
  readonly pollEveryMs?: number;
  readonly onError?: (error: unknown) => void;
}

/**
 * A busy job commits hundreds of times a second, and each look at it costs as much as a few of its tasks.
 * All streams look at the same times, so that they stay equally far and share what is read. The pause
 * grows with the time that the last look took, so that reading takes a fiftieth of the time at most.
 */
const leastPauseMs = 200;
const longestPauseMs = 1000;
const pauseFactor = 50;
/** Events in one message; a wide fan-out sends several messages. */
const mostEvents = 2000;
const mostTasks = 100;

type Snapshot = StreamMessage & { readonly type: "snapshot" };

interface Follower {
  readonly jobId: string;
  /** There may be new events; set until the follower reads them. */
  woken: boolean;
  /** Ends the wait of a follower that has nothing to send. */
  wake: () => void;
  tasks: readonly CurrentTask[] | undefined;
  lastTasks: string;
}

export function createJobStreams(options: JobStreamsOptions): JobStreams {
  const { db, graphs, traceUrlTemplate, progressEveryMs = 1000, pollEveryMs = 5000 } = options;
  const followers = new Set<Follower>();
  let closed = false;
  let timers: readonly NodeJS.Timeout[] = [];
  let listening: { close(): Promise<void> } | undefined;
  /** What is being read, by job and last event. It may lack what was committed after it began. */
  let readings = new Map<string, Promise<StreamMessage[]>>();
  /** Snapshots that are being read, by job: clients that come together share one. */
  const snapshots = new Map<string, Promise<Snapshot>>();

  let lastWake = -Infinity;
  let pauseMs = leastPauseMs;
  let nextWake: NodeJS.Timeout | undefined;
  /** At once after a pause, otherwise together with what is committed until the pause ends. */
  function wakeSoon(): void {
    const waitMs = lastWake + pauseMs - performance.now();
    if (waitMs <= 0) wake();
    else nextWake ??= setTimeout(wake, waitMs);
  }

  function wake(): void {
    clearTimeout(nextWake);
    nextWake = undefined;
    lastWake = performance.now();
    readings = new Map();
    for (const follower of followers) {
      follower.woken = true;
      follower.wake();
    }
  }

  let looking = false;
  async function lookAtProgress(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const jobIds = [...new Set([...followers].map(({ jobId }) => jobId))];
      const found = await readCurrentTasks(db, jobIds, mostTasks * jobIds.length);
      const known = new Map(jobIds.map((jobId) => [jobId, tasksOf(found, jobId)]));
      for (const follower of followers) {
        const { tasks, text } = known.get(follower.jobId) ?? {
          tasks: [],
          text: follower.lastTasks,
        };
        if (text === follower.lastTasks) continue;
        // A client that has not taken the previous progress gets only the newest.
        follower.lastTasks = text;
        follower.tasks = tasks;
        follower.wake();
      }
    } catch (error) {
      options.onError?.(error);
    } finally {
      looking = false;
    }
  }

  function add(follower: Follower): void {
    followers.add(follower);
    if (timers.length > 0) return;
    listening = options.listen(wakeSoon);
    timers = [
      setInterval(() => void lookAtProgress(), progressEveryMs),
      setInterval(wake, pollEveryMs),
    ];
  }

  function remove(follower: Follower): void {
    followers.delete(follower);
    if (followers.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    timers = [];
    clearTimeout(nextWake);
    nextWake = undefined;
    void listening?.close();
  }

  function snapshot(jobId: string): Promise<Snapshot> {
    return shared(snapshots, jobId, () => readSnapshot(jobId));
  }

  async function readSnapshot(jobId: string): Promise<Snapshot> {
    // One state of the database, so that `seq` is exactly what the nodes show.
    return db.transaction(
      async (tx) => {
        const job = await findJob(tx, jobId);
        if (job === undefined) throw new Error(`job ${jobId} is gone`);
        const graph = await graphs.graphOf(job.workflow_hash);
        const nodes = await readJobNodes(tx, job, graph);
        const shown = await showJob({ db: tx, graphs, traceUrlTemplate }, job);
        return { type: "snapshot", seq: job.event_seq, job: { ...shown, nodes } };
      },
      { isolation: "repeatable read", readOnly: true },
    );
  }

  function news(jobId: string, seq: number): Promise<StreamMessage[]> {
    return shared(readings, `${jobId} ${seq}`, () => readNews(jobId, seq));
  }

  async function readNews(jobId: string, seq: number): Promise<StreamMessage[]> {
    const begun = performance.now();
    const messages = await readMessages(jobId, seq);
    const tookMs = performance.now() - begun;
    pauseMs = Math.min(longestPauseMs, Math.max(leastPauseMs, pauseFactor * tookMs));
    return messages;
  }

  async function readMessages(jobId: string, seq: number): Promise<StreamMessage[]> {
    const events = await readNewEvents(db, jobId, seq, mostEvents);
    const job = await findJob(db, jobId);
    if (job === undefined) return [];
    const last = events.at(-1)?.seq ?? seq;
    const messages: StreamMessage[] = [];
    if (events.length > 0) {
      const graph = await graphs.graphOf(job.workflow_hash);
      const nodes = await readJobNodes(db, job, graph);
      const changed = changedNodes(events);
      messages.push({
        type: "events",
        seq: last,
        events,
        nodes: nodes.filter(({ node_id }) => changed(node_id)),
      });
    }
    if (isFinished(job.status) && last >= job.event_seq) {
      messages.push({ type: "end", seq: last, status: job.status });
    }
    return messages;
  }

  async function* follow(
    jobId: string,
    after: number | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<StreamMessage> {
    const follower: Follower = {
      jobId,
      woken: true,
      wake: () => undefined,
      tasks: undefined,
      lastTasks: "[]",
    };
    // Before the first read, so that a commit after that read wakes this stream again.
    add(follower);
    try {
      let seq = after;
      if (seq === undefined) {
        const first = await snapshot(jobId);
        seq = first.seq;
        yield first;
      }
      while (!signal.aborted && !closed) {
        if (follower.woken) {
          follower.woken = false;
          for (const message of await news(jobId, seq)) {
            yield message;
            if (message.type === "end") return;
            if (message.type !== "events") continue;
            seq = message.seq;
            // There may be more behind a full page.
            if (message.events.length >= mostEvents) follower.woken = true;
          }
        } else if (follower.tasks !== undefined) {
          const { tasks } = follower;
          follower.tasks = undefined;
          yield { type: "progress", tasks: [...tasks] };
        } else {
          await woken(follower, signal);
        }
      }
    } finally {
      remove(follower);
    }
  }

  return {
    open: follow,
    get size() {
      return followers.size;
    },
    close: () => {
      closed = true;
      wake();
    },
  };
}

/** Answers what is being read under this key, or reads it. */
function shared<T>(
  readings: Map<string, Promise<T>>,
  key: string,
  read: () => Promise<T>,
): Promise<T> {
  const known = readings.get(key);
  if (known !== undefined) return known;
  const reading = read();
  readings.set(key, reading);
  const forget = (): void => {
    readings.delete(key);
  };
  reading.then(forget, forget);
  return reading;
}

/** Answers the current tasks of one job, with the text by which a change of them is found. */
function tasksOf(
  found: Awaited<ReturnType<typeof readCurrentTasks>>,
  ofJob: string,
): { readonly tasks: readonly CurrentTask[]; readonly text: string } {
  const tasks = found
    .filter(({ job_id }) => job_id === ofJob)
    .slice(0, mostTasks)
    .map(({ job_id: _jobId, ...task }) => task);
  return { tasks, text: JSON.stringify(tasks) };
}

async function woken(follower: Follower, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      signal.removeEventListener("abort", done);
      follower.wake = () => undefined;
      resolve();
    };
    follower.wake = done;
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}

/** An event of a child changes the counts of its fan-out, and the stream shows the fan-out. */
function changedNodes(events: readonly JobEvent[]): (nodeId: string) => boolean {
  const named = events.flatMap(({ node_id }) =>
    node_id === null ? [] : [node_id, node_id.replace(/__\d+$/, "")],
  );
  const ids = new Set(named);
  return (nodeId) => ids.has(nodeId);
}

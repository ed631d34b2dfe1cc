import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Caller, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { problemBody, toProblem } from "../../adapters/http/problem.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import { readEvents, readLogs } from "../../adapters/postgres/queries/history.ts";
import { readJobNodes } from "../../adapters/postgres/queries/job-nodes.ts";
import { listJobs } from "../../adapters/postgres/queries/jobs.ts";
import { readCurrentTasks } from "../../adapters/postgres/queries/tasks.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { jobBatchContracts } from "../../core/api/job-batch.ts";
import type { jobContracts } from "../../core/api/jobs.ts";
import type { nodeContracts } from "../../core/api/nodes.ts";
import type { StreamMessage } from "../../core/api/stream.ts";
import { Problem } from "../../core/errors.ts";
import { isFinished } from "../../core/model/job.ts";
import type { CallbackSettings } from "../partner-callbacks/check-callback-url.ts";
import { checkCallbackUrl } from "../partner-callbacks/check-callback-url.ts";
import type { OpenedJob } from "./find-job.ts";
import { openJob, requireJob } from "./find-job.ts";
import type { JobStreams } from "./job-streams.ts";
import { serveResult, wholeResult } from "./serve-values.ts";
import { showJob } from "./show-values.ts";
import { nodeRoutes } from "./node-routes.ts";
import { summarise } from "./progress.ts";
import type { JobEnd } from "../engine/end-waiters.ts";
import type { SubmitAnswer, SubmitRequest, Verbs } from "./verbs.ts";

export interface JobRouteDeps {
  readonly db: Database;
  readonly verbs: Verbs;
  readonly graphs: GraphCache;
  readonly storage: Storage;
  readonly streams: JobStreams;
  readonly callbacks: CallbackSettings;
  readonly traceUrlTemplate?: string | undefined;
}

const createdAtAndId = z.tuple([z.string().regex(/^\d{4}-[\d:. +-]+$/), z.string().max(64)]);
const sequence = z.tuple([z.number().int().min(0)]);

/** A wide fan-out may run thousands of tasks at once; a screen shows no more than these. */
const mostCurrentTasks = 100;

export function jobRoutes(
  deps: JobRouteDeps,
): Handlers<typeof jobContracts> &
  Handlers<typeof jobBatchContracts> &
  Handlers<typeof nodeContracts> {
  const { db, verbs, graphs, streams } = deps;

  return {
    ...nodeRoutes(deps),

    submitJob: async (request) => {
      const { body, caller, traceParent: trace_parent } = request;
      const { wait = 0 } = request.query;
      const answer = await submit(deps, { ...body, trace_parent }, caller);
      if (wait === 0) return accepted(answer);
      const end = isFinished(answer.status)
        ? { status: answer.status }
        : await verbs.waitForEnd(answer.job_id, wait * 1000, request.signal);
      return accepted(
        end === undefined ? answer : { ...answer, ...(await withResult(deps, answer.job_id, end)) },
      );
    },

    // All at once, because submissions that arrive together share a transaction.
    submitJobs: async ({ body: { jobs }, caller, requestId, traceParent }) => {
      const items = await Promise.all(
        jobs.map(async (request, index) => {
          try {
            const job = await submit(deps, { ...request, trace_parent: traceParent }, caller);
            return { index, outcome: "accepted" as const, job };
          } catch (error) {
            const problem = toProblem(error);
            if (problem === undefined) throw error;
            const body = problemBody(problem, requestId);
            return { index, outcome: "refused" as const, problem: body };
          }
        }),
      );
      const count = items.filter(({ outcome }) => outcome === "accepted").length;
      return { accepted: count, refused: items.length - count, items };
    },

    listJobs: async ({ query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, createdAtAndId);
      const page = await listJobs(
        db,
        filter,
        limit,
        after && { created_at: after[0], job_id: after[1] },
      );
      const { jobs, next } = page;
      return { items: jobs, next_cursor: next && encodeCursor([next.created_at, next.job_id]) };
    },

    getJob: async ({ params }) => showWhole(deps, await openJob(deps, params.job_id)),

    getJobResult: async ({ params }) => {
      const opened = await openJob(deps, params.job_id);
      return serveResult({ ...deps, db: opened.db }, opened.job);
    },

    getJobProgress: async ({ params }) => {
      const { job, db: rows } = await openJob(deps, params.job_id);
      const nodes = await readJobNodes(rows, job, await graphs.graphOf(job.workflow_hash));
      const tasks = await readCurrentTasks(db, [job.job_id], mostCurrentTasks);
      return summarise(job, nodes, tasks);
    },

    listJobEvents: async ({ params, query: { limit, cursor, after, ...filter } }) => {
      const { db: rows } = await openJob(deps, params.job_id, { history: "events" });
      const [behind = after ?? 0] = decodeCursor(cursor, sequence) ?? [];
      const page = await readEvents(rows, params.job_id, { ...filter, after: behind }, limit);
      return {
        items: page.events,
        next_cursor: page.next === null ? null : encodeCursor([page.next]),
      };
    },

    listJobLogs: async ({ params, query: { limit, cursor, ...filter } }) => {
      const { db: rows } = await openJob(deps, params.job_id, { history: "logs" });
      const [after = 0] = decodeCursor(cursor, sequence) ?? [];
      const page = await readLogs(rows, params.job_id, { ...filter, after }, limit);
      return {
        items: page.lines,
        next_cursor: page.next === null ? null : encodeCursor([page.next]),
      };
    },

    cancelJob: async ({ params, body, caller }) =>
      verbs.cancel(params.job_id, body.reason ?? `cancelled by ${caller?.name ?? "a user"}`),
    pauseJob: async ({ params }) => verbs.pause(params.job_id),
    resumeJob: async ({ params }) => verbs.resume(params.job_id),
    retryJob: async ({ params, body, traceParent: trace_parent }) =>
      accepted(await verbs.retry(params.job_id, { ...body, trace_parent })),
    retryNode: async ({ params, traceParent: trace_parent }) =>
      accepted(await verbs.retryNode(params.job_id, params.node_id, { trace_parent })),
    rerunJob: async ({ params, body, traceParent: trace_parent }) =>
      accepted(await verbs.rerun(params.job_id, { ...body, trace_parent })),

    streamJob: async ({ params, query: { after }, signal }) => {
      const opened = await openJob(deps, params.job_id);
      const { job } = opened;
      // A browser reconnects for ever unless a 204 says that no more events will come.
      if (after !== undefined && after >= job.event_seq && isFinished(job.status)) {
        return new Answer(undefined, { status: 204 });
      }
      if (opened.archivedAt !== undefined) return streamArchived(deps, opened);
      return streams.open(params.job_id, after, signal);
    },

    socketJob: async ({ params, query: { after }, signal }) => {
      const opened = await openJob(deps, params.job_id);
      if (opened.archivedAt !== undefined) return streamArchived(deps, opened);
      return streams.open(params.job_id, after, signal);
    },
  };
}

async function showWhole(
  { graphs, traceUrlTemplate }: Pick<JobRouteDeps, "graphs" | "traceUrlTemplate">,
  { job, db, archivedAt }: OpenedJob,
) {
  const nodes = await readJobNodes(db, job, await graphs.graphOf(job.workflow_hash));
  const shown = { ...(await showJob({ db, graphs, traceUrlTemplate }, job)), nodes };
  return archivedAt === undefined ? shown : { ...shown, archived_at: archivedAt };
}

async function* streamArchived(
  deps: Pick<JobRouteDeps, "graphs" | "traceUrlTemplate">,
  opened: OpenedJob,
): AsyncGenerator<StreamMessage> {
  const { event_seq: seq, status } = opened.job;
  yield { type: "snapshot", seq, job: await showWhole(deps, opened) };
  yield { type: "end", seq, status };
}

/** Checks the callback address before the job is created. */
async function submit(
  { verbs, callbacks }: Pick<JobRouteDeps, "verbs" | "callbacks">,
  request: SubmitRequest,
  caller: Caller | undefined,
): Promise<SubmitAnswer> {
  const { submitted_by = caller?.name, callback_url } = request;
  if (callback_url !== undefined) {
    const findings = checkCallbackUrl(callbacks, callbacks.jobHosts, callback_url);
    if (findings.length > 0) throw new Problem("BAD_REQUEST", "Nothing was started.", findings);
  }
  return verbs.submit({ ...request, submitted_by });
}

/** The engine passes small results on; others are read, and their secrets hidden. */
async function withResult(deps: JobRouteDeps, jobId: string, end: JobEnd): Promise<JobEnd> {
  if (end.result !== undefined || end.error !== undefined) return end;
  const job = await requireJob(deps.db, jobId);
  if (job.status !== "completed") return { status: job.status, error: job.error };
  return { status: job.status, result: await wholeResult(deps, job) };
}

function accepted(answer: SubmitAnswer & Partial<JobEnd>): Answer {
  return new Answer(answer, {
    status: answer.created ? 202 : 200,
    headers: { location: `/api/v1/jobs/${encodeURIComponent(answer.job_id)}` },
  });
}

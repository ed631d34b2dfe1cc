import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { readEvents, readLogs } from "../../adapters/postgres/queries/history.ts";
import { readJobNodes } from "../../adapters/postgres/queries/job-nodes.ts";
import { listJobs } from "../../adapters/postgres/queries/jobs.ts";
import { readCurrentTasks } from "../../adapters/postgres/queries/tasks.ts";
import type { jobContracts } from "../../core/api/jobs.ts";
import { isFinished } from "../../core/model/job.ts";
import type { SubmitAnswer } from "./verbs.ts";
import type { RouteDeps } from "../route-deps.ts";
import { demandJob } from "./find-job.ts";
import { summarise } from "./progress.ts";
import { submitJob } from "./check-request.ts";

const place = z.tuple([z.string().regex(/^\d{4}-[\d:. +-]+$/), z.string().max(64)]);
const number = z.tuple([z.number().int().min(0)]);

/** A wide fan-out may run thousands at once; nobody reads more than a screen of them. */
const mostCurrentTasks = 100;

export function jobRoutes(
  deps: Pick<RouteDeps, "db" | "verbs" | "graphs" | "streams" | "domain">,
): Handlers<typeof jobContracts> {
  const { db, verbs, graphs, streams } = deps;

  return {
    submitJob: async ({ body, query: { wait = 0 }, caller, signal }) => {
      const answer = await submitJob(deps, body, caller);
      if (wait === 0 || isFinished(answer.status)) return accepted(answer);
      const ended = await verbs.waitForEnd(answer.job_id, wait * 1000, signal);
      return accepted({ ...answer, status: ended ?? answer.status });
    },

    listJobs: async ({ query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, place);
      const page = await listJobs(
        db,
        filter,
        limit,
        after && { created_at: after[0], job_id: after[1] },
      );
      const { jobs, next } = page;
      return { items: jobs, next_cursor: next && encodeCursor([next.created_at, next.job_id]) };
    },

    getJob: async ({ params }) => {
      const job = await demandJob(db, params.job_id);
      const nodes = await readJobNodes(db, job, await graphs.graphOf(job.workflow_hash));
      return { ...job, nodes };
    },

    getJobProgress: async ({ params }) => {
      const job = await demandJob(db, params.job_id);
      const nodes = await readJobNodes(db, job, undefined);
      const tasks = await readCurrentTasks(db, [job.job_id], mostCurrentTasks);
      return summarise(job, nodes, tasks);
    },

    listJobEvents: async ({ params, query: { limit, cursor, after, ...filter } }) => {
      await demandJob(db, params.job_id);
      const [behind = after ?? 0] = decodeCursor(cursor, number) ?? [];
      const page = await readEvents(db, params.job_id, { ...filter, after: behind }, limit);
      return {
        items: page.events,
        next_cursor: page.next === null ? null : encodeCursor([page.next]),
      };
    },

    listJobLogs: async ({ params, query: { limit, cursor, ...filter } }) => {
      await demandJob(db, params.job_id);
      const [after = 0] = decodeCursor(cursor, number) ?? [];
      const page = await readLogs(db, params.job_id, { ...filter, after }, limit);
      return {
        items: page.lines,
        next_cursor: page.next === null ? null : encodeCursor([page.next]),
      };
    },

    cancelJob: async ({ params, body, caller }) =>
      verbs.cancel(params.job_id, body.reason ?? `cancelled by ${caller?.name ?? "a user"}`),
    pauseJob: async ({ params }) => verbs.pause(params.job_id),
    resumeJob: async ({ params }) => verbs.resume(params.job_id),
    retryJob: async ({ params }) => accepted(await verbs.retry(params.job_id)),
    rerunJob: async ({ params, body }) => accepted(await verbs.rerun(params.job_id, body)),

    streamJob: async ({ params, query: { after }, signal }) => {
      const job = await demandJob(db, params.job_id);
      // A browser reconnects for ever unless it is told that there will be no more.
      if (after !== undefined && after >= job.event_seq && isFinished(job.status)) {
        return new Answer(undefined, { status: 204 });
      }
      return streams.open(params.job_id, after, signal);
    },

    socketJob: async ({ params, query: { after }, signal }) => {
      await demandJob(db, params.job_id);
      return streams.open(params.job_id, after, signal);
    },
  };
}

function accepted(answer: SubmitAnswer): Answer {
  return new Answer(answer, {
    status: answer.created ? 202 : 200,
    headers: { location: `/api/v1/jobs/${encodeURIComponent(answer.job_id)}` },
  });
}

/** Handlers job_health_check and task_watchdog: reports for operators, which change nothing. */
import { findOverdueTasks, findStalledJobs } from "../../../adapters/postgres/queries/stalled.ts";
import { defineHandler } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";

export const jobHealthCheck = defineHandler("job_health_check", async (params, context) =>
  findStalledJobs(requireDatabase(context), {
    idleSeconds: params.stalled_minutes * 60,
    limit: params.limit,
  }),
);

export const taskWatchdog = defineHandler("task_watchdog", async (params, context) =>
  findOverdueTasks(requireDatabase(context), {
    waitingSeconds: params.waiting_minutes * 60,
    limit: params.limit,
  }),
);

import type { Handlers } from "../../adapters/http/handler.ts";
import { problemBody, toProblem } from "../../adapters/http/problem.ts";
import type { jobBatchContracts } from "../../core/api/job-batch.ts";
import type { RouteDeps } from "../route-deps.ts";
import { submitJob } from "./check-request.ts";

/** All at once: what arrives together shares its transactions. */
export function jobBatchRoutes(
  deps: Pick<RouteDeps, "verbs" | "domain">,
): Handlers<typeof jobBatchContracts> {
  return {
    submitJobs: async ({ body: { jobs }, caller, requestId }) => {
      const items = await Promise.all(
        jobs.map(async (request, index) => {
          try {
            const job = await submitJob(deps, request, caller);
            return { index, outcome: "accepted" as const, job };
          } catch (error) {
            const problem = toProblem(error);
            if (problem === undefined) throw error;
            const body = problemBody(problem, requestId);
            return { index, outcome: "refused" as const, problem: body };
          }
        }),
      );
      const accepted = items.filter(({ outcome }) => outcome === "accepted").length;
      return { accepted, refused: items.length - accepted, items };
    },
  };
}

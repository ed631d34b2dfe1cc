import pLimit from "p-limit";
import type { Handlers } from "../../adapters/http/handler.ts";
import { parseBodyOf } from "../../adapters/http/parse-request.ts";
import { problemBody, toProblem } from "../../adapters/http/problem.ts";
import type { batchContracts } from "../../core/api/gateway/batch.ts";
import { partnerSubmission } from "../../core/api/gateway/platform.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "./deps.ts";
import { demandPartner } from "./partner.ts";
import { submit } from "./submit.ts";

/** Submissions of one batch under way at once: more would let one partner occupy the orchestrator. */
const atOnce = 8;

export function batchRoutes(
  deps: Pick<RouteDeps, "orchestrator" | "publicUrl" | "limiter">,
): Handlers<typeof batchContracts> {
  return {
    submitBatch: async (request) => {
      demandPartner(request.caller);
      const given = request.body.items;
      // One token was taken when the request came in.
      if (request.caller !== undefined) deps.limiter.take(request.caller, given.length - 1);

      const items = await pLimit(atOnce).map(given, async (item, index) => {
        try {
          const body = parseBodyOf(partnerSubmission, item);
          const { accepted } = await submit(deps, request, body);
          return { index, outcome: "accepted" as const, request: accepted };
        } catch (error) {
          const problem = toProblem(error) ?? new Problem("INTERNAL", "This is our mistake.");
          const body = problemBody(problem, request.requestId);
          return { index, outcome: "refused" as const, problem: body };
        }
      });
      const accepted = items.filter(({ outcome }) => outcome === "accepted").length;
      return { accepted, refused: items.length - accepted, items };
    },
  };
}

import type { Handlers } from "../../adapters/http/handler.ts";
import { parseBodyOf } from "../../adapters/http/parse-request.ts";
import { problemBody, toProblem } from "../../adapters/http/problem.ts";
import type { batchContracts } from "../../core/api/gateway/batch.ts";
import { partnerSubmission } from "../../core/api/gateway/platform.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "./deps.ts";
import { demandPartner } from "./partner.ts";
import { submit } from "./submit.ts";

/** Enough to keep the orchestrator busy, and too few for one partner to occupy it. */
const atOnce = 8;

export function batchRoutes(
  deps: Pick<RouteDeps, "orchestrator" | "publicUrl" | "limiter">,
): Handlers<typeof batchContracts> {
  return {
    submitBatch: async (request) => {
      demandPartner(request.caller);
      const given = request.body.items;
      // The request itself has paid for one.
      if (request.caller !== undefined) deps.limiter.take(request.caller, given.length - 1);

      const items = await mapLimited(given, atOnce, async (item, index) => {
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

/** In the order given, with so many under way at once. */
async function mapLimited<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  async function drain(): Promise<void> {
    for (const [index, item] of queue) results[index] = await work(item, index);
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, drain));
  return results;
}

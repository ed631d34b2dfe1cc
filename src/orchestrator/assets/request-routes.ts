import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { findRequest, listRequests } from "../../adapters/postgres/queries/requests.ts";
import type { PlatformRequest } from "../../core/api/asset-schemas.ts";
import type { Accepted, requestContracts } from "../../core/api/requests.ts";
import { Problem } from "../../core/errors.ts";
import { auditContextOf } from "../audit-context.ts";
import type { Verbs } from "../jobs/verbs.ts";
import type { AssetDeps } from "./deps.ts";
import { submitAsset } from "./submit-asset.ts";

export const timeAndId = z.tuple([z.string().regex(/^\d{4}-[\d:. +-]+$/), z.string().max(80)]);

interface RequestRouteDeps {
  readonly db: Database;
  readonly assets: AssetDeps;
  readonly verbs: Verbs;
}

export function requestRoutes({
  db,
  assets,
  verbs,
}: RequestRouteDeps): Handlers<typeof requestContracts> {
  async function requireRequest(requestId: string): Promise<PlatformRequest> {
    const found = await findRequest(db, requestId);
    if (found !== undefined) return found;
    throw new Problem("REQUEST_NOT_FOUND", `There is no request "${requestId}".`);
  }

  return {
    submitAsset: async (request) => {
      const { actor = request.body.submitted_by, ...submission } = request.body;
      return accepted(await submitAsset(assets, submission, auditContextOf(request, actor)));
    },

    getRequest: async ({ params: { request_id } }) => requireRequest(request_id),

    cancelRequest: async (request) => {
      const { request_id } = request.params;
      const { job_id, status } = await requireRequest(request_id);
      const { actor } = auditContextOf(request, request.body.actor);
      const reason = request.body.reason ?? "no longer wanted";
      await verbs.cancel(job_id, `${reason} (${actor})`).catch((error: unknown) => {
        if (!(error instanceof Problem) || error.code !== "JOB_FINISHED") throw error;
        // The caller knows the id of the request and not that of its job.
        throw new Problem("JOB_FINISHED", `The request "${request_id}" is already ${status}.`);
      });
      return requireRequest(request_id);
    },

    listRequests: async ({ query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, timeAndId);
      const { requests, next } = await listRequests(
        db,
        filter,
        limit,
        after && { submitted_at: after[0], request_id: after[1] },
      );
      return {
        items: requests,
        next_cursor: next && encodeCursor([next.submitted_at, next.request_id]),
      };
    },
  };
}

export function accepted(answer: Accepted): Answer {
  return new Answer(answer, {
    status: answer.created ? 202 : 200,
    headers: { location: `/api/v1/requests/${encodeURIComponent(answer.request_id)}` },
  });
}

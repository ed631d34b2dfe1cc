import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { parseBodyOf } from "../../adapters/http/parse-request.ts";
import { listRequests } from "../../adapters/postgres/queries/gateway-requests.ts";
import { findOffered, listOffered } from "../../adapters/postgres/queries/gateway-workflows.ts";
import type { ogcContracts } from "../../core/api/gateway/ogc.ts";
import { partnerSubmission } from "../../core/api/gateway/platform.ts";
import { Problem } from "../../core/errors.ts";
import {
  conformance,
  describeProcess,
  link,
  readExecution,
  requestStatusOf,
  summariseProcess,
  toStatusInfo,
} from "../../core/gateway/ogc-process.ts";
import type { RouteDeps } from "./deps.ts";
import type { Partner } from "./partner.ts";
import { demandPartner, demandRequest } from "./partner.ts";
import { submit, withIdempotencyKey } from "./submit.ts";

const rel = "http://www.opengis.net/def/rel/ogc/1.0";

export function ogcRoutes(
  deps: Pick<RouteDeps, "db" | "orchestrator" | "polls" | "publicUrl">,
): Handlers<typeof ogcContracts> {
  const { db, orchestrator } = deps;
  const base = `${deps.publicUrl}/api/ogc`;

  async function demandProcess(id: string) {
    const found = await findOffered(db, id);
    if (found !== undefined) return found;
    throw new Problem("NO_SUCH_PROCESS", `There is no process "${id}".`);
  }

  /** Finds a request, and refuses with the error code of the standard. */
  async function demandJob(partner: Partner, requestId: string) {
    try {
      return await demandRequest(deps, partner, requestId);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "REQUEST_NOT_FOUND") throw error;
      throw new Problem("NO_SUCH_JOB", `There is no job "${requestId}".`);
    }
  }

  return {
    ogcLanding: async () => ({
      title: "rmhdagmaster",
      description: "Geospatial workflows as processes of OGC API – Processes.",
      links: [
        link(base, "self"),
        link(`${deps.publicUrl}/api/openapi.json`, "service-desc"),
        link(`${base}/conformance`, `${rel}/conformance`),
        link(`${base}/processes`, `${rel}/processes`),
        link(`${base}/jobs`, `${rel}/job-list`),
      ],
    }),

    ogcConformance: async () => ({ conformsTo: conformance }),

    ogcProcesses: async () => {
      const offered = await listOffered(db, "partners");
      const processes = offered.map((each) => summariseProcess(each, base));
      return { processes, links: [link(`${base}/processes`, "self")] };
    },

    ogcProcess: async ({ params }) => describeProcess(await demandProcess(params.process_id), base),

    ogcExecute: async (request) => {
      const partner = demandPartner(request.caller);
      const { workflow_id } = await demandProcess(request.params.process_id);
      const callback_url = request.body.subscriber?.successUri;
      const given = parseBodyOf(partnerSubmission, {
        workflow_id,
        ...readExecution(request.body.inputs),
        ...(callback_url === undefined ? {} : { callback_url }),
      });
      const keyed = withIdempotencyKey(given, request.header("idempotency-key"));
      const { accepted } = await submit(deps, request, keyed);
      const job = await demandJob(partner, accepted.request_id);
      const location = `${base}/jobs/${encodeURIComponent(accepted.request_id)}`;
      const preferred = /\brespond-async\b/.test(request.header("prefer") ?? "");
      return new Answer(toStatusInfo(job, base), {
        headers: { location, ...(preferred ? { "preference-applied": "respond-async" } : {}) },
      });
    },

    ogcJobs: async ({ caller, query: { limit, processID, status } }) => {
      const filter = { workflow_id: processID, status: status && requestStatusOf(status) };
      const { platformId } = demandPartner(caller);
      const { items } = await listRequests(db, platformId, filter, limit, undefined);
      const jobs = items.map((each) => toStatusInfo(each, base));
      return { jobs, links: [link(`${base}/jobs`, "self")] };
    },

    ogcJob: async ({ caller, params }) =>
      toStatusInfo(await demandJob(demandPartner(caller), params.request_id), base),

    ogcResults: async ({ caller, params }) => {
      const job = await demandJob(demandPartner(caller), params.request_id);
      if (job.status === "completed") return job.result ?? {};
      if (job.status === "pending" || job.status === "running") {
        throw new Problem("RESULT_NOT_READY", `The job is ${job.status}: ask again later.`);
      }
      const message = job.error?.["message"];
      const reason = typeof message === "string" ? `: ${message}` : "";
      throw new Problem("RESULT_FAILED", `The job is ${job.status}${reason}`);
    },

    ogcDismiss: async (request) => {
      const partner = demandPartner(request.caller);
      const { request_id } = request.params;
      await demandJob(partner, request_id);
      const body = { actor: partner.actor() };
      await orchestrator.call(request, (client, forwarded) =>
        client.cancelRequest({ params: { request_id }, body, ...forwarded }),
      );
      return toStatusInfo(await demandJob(partner, request_id), base);
    },
  };
}

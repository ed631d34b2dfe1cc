import type { Readable } from "node:stream";
import type { ApiRequest, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Contract } from "../../core/api/contract.ts";
import type { partnerUploadContracts } from "../../core/api/gateway/uploads.ts";
import { partHeaders, uploadHeaders } from "../../core/api/uploads.ts";
import { Problem } from "../../core/errors.ts";
import { streamToTarget } from "../stream-to-target.ts";
import type { RouteDeps } from "./deps.ts";
import { demandPartner } from "./partner.ts";

const sentHeaders = [
  ...new Set([...Object.keys(uploadHeaders), ...Object.keys(partHeaders)]),
  "Content-Type",
  "Content-Length",
].map((name) => name.toLowerCase());

/** Uploads of partners go to the orchestrator as they come, each with the platform of the key. */
export function uploadRoutes(
  deps: Pick<RouteDeps, "targets">,
): Handlers<typeof partnerUploadContracts> {
  async function pass(
    request: Pick<ApiRequest<Contract>, "caller" | "header" | "requestId">,
    method: string,
    { path = "", query = {}, body }: { path?: string; query?: object; body?: Readable } = {},
  ): Promise<Answer> {
    const partner = demandPartner(request.caller);
    const target = deps.targets.get("orchestrator");
    if (target === undefined) throw new Problem("UNAVAILABLE", "There is no orchestrator.");
    const search = new URLSearchParams({ ...query, platform_id: partner.platformId });
    if (method === "POST") search.set("actor", partner.actor());
    const headers = sentHeaders.flatMap((name) => {
      const value = request.header(name);
      return value === undefined || (body === undefined && name.startsWith("content-"))
        ? []
        : [[name, value] as const];
    });
    const answer = await streamToTarget(target, {
      method,
      path: `/api/v1/uploads${path}?${search.toString()}`,
      headers: { ...Object.fromEntries(headers), "x-request-id": request.requestId },
      body,
    });
    const location = answer.headers["location"]?.replace("/api/v1/", "/api/platform/");
    return new Answer(forPartner(answer.body), {
      ...(answer.body === null ? { status: 204 } : {}),
      headers: { ...answer.headers, ...(location === undefined ? {} : { location }) },
    });
  }

  return {
    partnerCreateUpload: async (request) => pass(request, "POST"),
    partnerListUploads: async (request) => {
      const { path, limit } = request.query;
      const query = { limit: String(limit), ...(path === undefined ? {} : { path }) };
      return pass(request, "GET", { query });
    },
    partnerGetUpload: async (request) =>
      pass(request, "GET", { path: `/${request.params.upload_id}` }),
    partnerAppendUpload: async (request) =>
      pass(request, "PATCH", {
        path: `/${request.params.upload_id}`,
        body: request.body as Readable,
      }),
    partnerDeleteUpload: async (request) =>
      pass(request, "DELETE", { path: `/${request.params.upload_id}` }),
  };
}

function forPartner(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const shown = Object.entries(body).filter(
    ([name]) => name !== "platform_id" && name !== "created_by",
  );
  return Object.fromEntries(
    shown.map(([name, value]) => [name, Array.isArray(value) ? value.map(forPartner) : value]),
  );
}

import { z } from "zod";
import { defineContract } from "../contract.ts";
import { json } from "../schemas.ts";

const alive = z.object({ status: z.literal("ok") });
const ready = z
  .object({ status: z.literal("ready"), checks: z.record(z.string(), z.string()) })
  .meta({ id: "Ready" });

/**
 * Each probe has two addresses: most look at the root, and a deployment that publishes only /api
 * needs them there.
 */
const livez = defineContract({
  id: "livez",
  method: "GET",
  path: "/livez",
  access: "public",
  summary: "The process runs. Always 200.",
  response: alive,
  errors: ["INTERNAL"],
});
const apiLivez = defineContract({ ...livez, id: "apiLivez", path: "/api/livez" });

const readyz = defineContract({
  id: "readyz",
  method: "GET",
  path: "/readyz",
  access: "public",
  summary: "The gateway can serve: every check of its start has passed, and its database answers.",
  response: ready,
  errors: ["UNAVAILABLE"],
});
const apiReadyz = defineContract({ ...readyz, id: "apiReadyz", path: "/api/readyz" });

const gatewayHealth = defineContract({
  id: "gatewayHealth",
  method: "GET",
  path: "/api/gateway/health",
  access: "public",
  summary: "Whether the gateway, its database and the orchestrator answer.",
  response: z
    .object({
      status: z.enum(["ok", "degraded", "down"]),
      version: z.string(),
      database: z.enum(["ok", "down"]),
      orchestrator: z.enum(["ok", "down"]),
    })
    .meta({ id: "GatewayHealth" }),
  errors: ["INTERNAL"],
});

const gatewayMetrics = defineContract({
  id: "gatewayMetrics",
  method: "GET",
  path: "/metrics",
  access: "operate",
  summary: "The metrics of this gateway, in the text format of Prometheus.",
  response: z.string(),
  media: "text/plain",
  errors: ["UNAUTHENTICATED", "FORBIDDEN"],
});

const gatewayOpenapi = defineContract({
  id: "gatewayOpenapi",
  method: "GET",
  path: "/api/openapi.json",
  access: "public",
  summary: "This API as an OpenAPI 3.1 document.",
  response: json,
  errors: ["INTERNAL"],
});

const gatewayDocs = defineContract({
  id: "gatewayDocs",
  method: "GET",
  path: "/api/docs",
  access: "public",
  summary: "This API as a page to read.",
  response: z.string(),
  media: "text/html",
  errors: ["INTERNAL"],
});

export const probeContracts = [
  livez,
  apiLivez,
  readyz,
  apiReadyz,
  gatewayHealth,
  gatewayMetrics,
  gatewayOpenapi,
  gatewayDocs,
] as const;

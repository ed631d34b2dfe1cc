import { z } from "zod";
import { layerKinds, serviceEdit, serviceId, serviceKind } from "../model/external-service.ts";
import { defineContract } from "./contract.ts";
import { page, timestamp } from "./schemas.ts";

const one = z.object({ service_id: serviceId });

const service = z
  .object({
    service_id: z.string(),
    ...serviceEdit.shape,
    health: z.enum(["unknown", "ok", "failing"]),
    health_error: z.string().nullable(),
    latency_ms: z.number().int().nullable(),
    failures: z.number().int().describe("checks in a row that failed"),
    checked_at: timestamp.nullable(),
    updated_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ExternalService" });

const listExternalServices = defineContract({
  id: "listExternalServices",
  method: "GET",
  path: "/api/v1/external-services",
  access: "read",
  summary: "Services of others that the platform knows, with their health, by name.",
  query: z.strictObject({
    kind: serviceKind.optional(),
    layers: z
      .enum(["true", "false"])
      .default("false")
      .describe(`only those that are shown as layers: ${layerKinds.join(", ")}`),
  }),
  response: page(service),
  errors: ["BAD_REQUEST"],
});

const putExternalService = defineContract({
  id: "putExternalService",
  method: "PUT",
  path: "/api/v1/external-services/{service_id}",
  access: "operate",
  summary: "Register a service, or replace its registration. It is checked at once.",
  params: one,
  body: serviceEdit,
  response: service,
  errors: ["BAD_REQUEST"],
});

const checkExternalService = defineContract({
  id: "checkExternalService",
  method: "POST",
  path: "/api/v1/external-services/{service_id}/check",
  access: "operate",
  summary: "Check the health of a service now.",
  params: one,
  response: service,
  errors: ["NOT_FOUND"],
});

const deleteExternalService = defineContract({
  id: "deleteExternalService",
  method: "DELETE",
  path: "/api/v1/external-services/{service_id}",
  access: "operate",
  summary: "Forget a service.",
  params: one,
  response: z.object({ deleted: z.boolean() }).meta({ id: "ServiceDeleted" }),
  errors: ["NOT_FOUND"],
});

export const externalServiceContracts = [
  listExternalServices,
  putExternalService,
  checkExternalService,
  deleteExternalService,
] as const;

import { z } from "zod";
import { defineContract } from "./contract.ts";
import { json, object } from "./schemas.ts";

const state = z.enum(["ok", "degraded", "down"]);

const livez = defineContract({
  id: "livez",
  method: "GET",
  path: "/livez",
  access: "public",
  anonymous: true,
  summary: "The process runs. Always 200.",
  response: z.object({ status: z.literal("ok") }),
  errors: ["INTERNAL"],
});

const readyz = defineContract({
  id: "readyz",
  method: "GET",
  path: "/readyz",
  access: "public",
  anonymous: true,
  summary:
    "The process can work: its database takes a write and has the schema it needs, its engine ticks, and its storage takes an object.",
  response: z.object({ status: z.literal("ready"), checks: z.record(z.string(), z.string()) }),
  errors: ["UNAVAILABLE"],
});

const health = defineContract({
  id: "health",
  method: "GET",
  path: "/health",
  access: "public",
  summary: "The health of the platform; its parts only with read access.",
  response: z
    .object({
      status: state,
      version: z.string(),
      parts: z
        .record(z.string(), z.object({ status: state, detail: z.string(), facts: object }))
        .optional(),
    })
    .meta({ id: "Health" }),
  errors: ["INTERNAL"],
});

const openapi = defineContract({
  id: "openapi",
  method: "GET",
  path: "/api/v1/openapi.json",
  access: "public",
  anonymous: true,
  summary: "This API as an OpenAPI 3.1 document.",
  response: json,
  errors: ["INTERNAL"],
});

const docs = defineContract({
  id: "docs",
  method: "GET",
  path: "/api/v1/docs",
  access: "public",
  anonymous: true,
  summary: "This API as a page to read.",
  response: z.string(),
  media: "text/html",
  errors: ["INTERNAL"],
});

export const healthContracts = [livez, readyz, health, openapi, docs] as const;

import { z } from "zod";
import { defineContract, partnerBodyLimit } from "../contract.ts";

const place = z.object({
  target: z.string().regex(/^[a-z]{1,32}$/, "must be the name of a target"),
  path: z.string().min(1).max(1024),
});

/** Forwards only methods and paths for which the configuration has a rule. */
const read = {
  path: "/api/proxy/{target}/{path*}",
  access: "operate",
  params: place,
  query: z.looseObject({}),
  response: z.unknown(),
  media: "application/octet-stream",
  types: ["*/*"],
  errors: ["NOT_FOUND", "FORBIDDEN", "BAD_GATEWAY", "UNAVAILABLE"],
} as const;
const write = { ...read, body: z.unknown(), bodyLimit: partnerBodyLimit } as const;

const proxyGet = defineContract({
  ...read,
  id: "proxyGet",
  method: "GET",
  summary: "Ask a program of the platform.",
});
const proxyPost = defineContract({
  ...write,
  id: "proxyPost",
  method: "POST",
  summary: "Send to a program of the platform, such as a direct command.",
});
const proxyPut = defineContract({
  ...write,
  id: "proxyPut",
  method: "PUT",
  summary: "Replace something at a program of the platform.",
});
const proxyPatch = defineContract({
  ...write,
  id: "proxyPatch",
  method: "PATCH",
  summary: "Change something at a program of the platform.",
});
const proxyDelete = defineContract({
  ...read,
  id: "proxyDelete",
  method: "DELETE",
  summary: "Delete something at a program of the platform.",
});

const proxyHealth = defineContract({
  id: "proxyHealth",
  method: "GET",
  path: "/api/proxy/health",
  access: "operate",
  summary: "Which of the targets answer.",
  response: z
    .object({
      status: z.enum(["ok", "degraded", "down"]),
      targets: z.record(z.string(), z.enum(["ok", "down"])),
    })
    .meta({ id: "ProxyHealth" }),
  errors: ["INTERNAL"],
});

export const proxyContracts = [
  proxyGet,
  proxyPost,
  proxyPut,
  proxyPatch,
  proxyDelete,
  proxyHealth,
] as const;

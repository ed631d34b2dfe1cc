import { z } from "zod";
import { contractData } from "../handlers/contract-data.ts";
import { defineContract } from "./contract.ts";
import { object, page, timestamp } from "./schemas.ts";

const contract = z
  .object({
    ...contractData.shape,
    description: z.string(),
    params: object.describe("JSON Schema of the parameters"),
    result: object.describe("JSON Schema of the result"),
    queue: z.string(),
    timeout_seconds: z.number(),
    examples: z.array(
      z.object({ description: z.string().optional(), params: object, result: object.optional() }),
    ),
  })
  .meta({ id: "HandlerContract" });

/** One contract of a handler, and who offers it. */
const offered = z
  .object({
    contract_hash: z.string().nullable().describe("null: it ships, and no worker registered it"),
    contract,
    first_offered_at: timestamp.nullable(),
    last_offered_at: timestamp.nullable(),
    offered_by: z
      .array(z.object({ worker_id: z.string(), queues: z.array(z.string()) }))
      .describe("the live workers"),
  })
  .meta({ id: "OfferedContract" });

const handler = z
  .object({
    name: z.string(),
    description: z.string(),
    queue: z.string(),
    ships: z.boolean().describe("it comes with rmhdag"),
    alive: z.boolean().describe("a live worker offers it"),
    conflict: z.boolean().describe("live workers offer different contracts under this name"),
    contracts: z.array(offered).describe("the one that workflows are checked against is first"),
  })
  .meta({ id: "Handler" });
export type HandlerView = z.infer<typeof handler>;

const listHandlers = defineContract({
  id: "listHandlers",
  method: "GET",
  path: "/api/v1/handlers",
  access: "read",
  summary: "Every handler that a workflow may name, by name, with its contracts and workers.",
  response: page(handler),
  errors: ["UNAUTHENTICATED"],
});

const params = z.object({ name: z.string().min(1).max(64) });

const getHandler = defineContract({
  id: "getHandler",
  method: "GET",
  path: "/api/v1/handlers/{name}",
  access: "read",
  summary: "One handler: parameters, result, and which workers offer it.",
  params,
  response: handler,
  errors: ["HANDLER_NOT_FOUND"],
});

const forgetHandler = defineContract({
  id: "forgetHandler",
  method: "POST",
  path: "/api/v1/handlers/{name}/forget",
  access: "operate",
  summary: "Forget the contracts of a handler that no worker offers any more.",
  params,
  response: z.object({ forgotten: z.boolean() }).meta({ id: "HandlerForgotten" }),
  errors: ["HANDLER_NOT_FOUND", "HANDLER_IN_USE"],
});

const testHandler = defineContract({
  id: "testHandler",
  method: "POST",
  path: "/api/v1/test/handler",
  access: "operate",
  summary:
    "Run one handler alone on the orchestrator's machine, without a job, and answer its result. " +
    "Only where RMHDAG_ALLOW_TEST_HANDLER is true.",
  body: z.strictObject({ handler: z.string().min(1).max(64), params: object.default({}) }),
  response: z
    .object({
      status: z.enum(["completed", "failed"]),
      output: object.nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
      log: z.array(z.string()).describe("what it printed and logged"),
    })
    .meta({ id: "HandlerTest" }),
  errors: ["BAD_REQUEST", "SWITCHED_OFF"],
});

export const handlerContracts = [listHandlers, getHandler, forgetHandler, testHandler] as const;

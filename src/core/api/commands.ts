import { z } from "zod";
import { defineContract } from "./contract.ts";
import { json, object, page } from "./schemas.ts";

const listCommands = defineContract({
  id: "listCommands",
  method: "GET",
  path: "/api/v1/commands",
  access: "read",
  summary: "The commands that run at once, without a job.",
  response: page(
    z.object({ name: z.string(), summary: z.string(), input: object }).meta({ id: "Command" }),
  ),
  errors: ["UNAUTHENTICATED"],
});

const runCommand = defineContract({
  id: "runCommand",
  method: "POST",
  path: "/api/v1/commands/{name}",
  access: "operate",
  summary: "Run one command and wait for its result. Each run leaves one audit event.",
  params: z.object({ name: z.string().min(1).max(64) }),
  body: object.default({}),
  response: z
    .object({ name: z.string(), audit_id: z.string(), result: json })
    .meta({ id: "CommandResult" }),
  errors: ["BAD_REQUEST", "COMMAND_NOT_FOUND"],
});

export const commandContracts = [listCommands, runCommand] as const;

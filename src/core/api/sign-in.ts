import { z } from "zod";
import { handlerName, queueName } from "../handlers/contract-data.ts";
import { moment } from "../model/moment.ts";
import { access, defineContract } from "./contract.ts";
import { page, timestamp } from "./schemas.ts";

/** The rights that a session or a token of the database can have; the others are for partners' keys. */
export const grantableAccess = access.extract(["read", "operate", "curate", "service", "work"]);
export type GrantableAccess = z.infer<typeof grantableAccess>;

const newLoginCode = z
  .object({
    code: z.string(),
    url: z.string().describe("opens the console and signs in"),
    access: z.array(access),
    expires_at: timestamp,
  })
  .meta({ id: "NewLoginCode" });

const createLoginCode = defineContract({
  id: "createLoginCode",
  method: "POST",
  path: "/api/v1/login-codes",
  access: "read",
  summary:
    "A code that signs a browser in once, within minutes, with the caller's rights or fewer.",
  body: z
    .strictObject({
      access: z.array(grantableAccess).min(1).max(5).optional(),
      next: z
        .string()
        .max(1024)
        .regex(/^\/(?![/\\])[^\\\s]*$/, "must be a path on this server")
        .optional()
        .describe("where the link leads after the sign-in"),
    })
    .prefault({}),
  response: newLoginCode,
  status: 201,
  errors: ["BAD_REQUEST", "FORBIDDEN"],
});

const consoleSession = z
  .object({
    session_id: z.string(),
    name: z.string(),
    access: z.array(access),
    opened_with: z.enum(["code", "token"]),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    created_at: timestamp,
    last_seen_at: timestamp,
    expires_at: timestamp,
    ended_at: timestamp.nullable(),
    ended_by: z.string().nullable(),
    active: z.boolean().describe("neither ended nor expired, and its token is valid"),
    current: z.boolean().describe("it is the caller's own"),
  })
  .meta({ id: "ConsoleSession" });
export type ConsoleSession = z.infer<typeof consoleSession>;

const listSessions = defineContract({
  id: "listSessions",
  method: "GET",
  path: "/api/v1/sessions",
  access: "operate",
  summary: "Sessions of the console of the last 30 days, the newest first.",
  response: page(consoleSession),
  errors: ["UNAUTHENTICATED"],
});

const revokeSession = defineContract({
  id: "revokeSession",
  method: "POST",
  path: "/api/v1/sessions/{session_id}/revoke",
  access: "operate",
  summary: "End a session at once.",
  params: z.object({ session_id: z.string().min(1).max(64) }),
  response: consoleSession,
  errors: ["NOT_FOUND"],
});

const accessToken = z
  .object({
    token_id: z.string().nullable().describe("null for a token of the configuration"),
    source: z.enum(["database", "configuration"]),
    name: z.string(),
    access: z.array(access),
    queues: z.array(z.string()).nullable().describe("of a worker's token: its only queues"),
    handlers: z.array(z.string()).nullable().describe("of a worker's token: its only handlers"),
    created_at: timestamp.nullable(),
    created_by: z.string().nullable(),
    expires_at: timestamp.nullable().describe("null: it never expires"),
    last_used_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    revoked_by: z.string().nullable(),
    usable: z.boolean(),
  })
  .meta({ id: "AccessToken" });
export type AccessToken = z.infer<typeof accessToken>;

const listTokens = defineContract({
  id: "listTokens",
  method: "GET",
  path: "/api/v1/tokens",
  access: "operate",
  summary: "Tokens for the API, the newest first; never the tokens themselves.",
  response: page(accessToken),
  errors: ["UNAUTHENTICATED"],
});

const newAccessToken = z
  .object({ ...accessToken.shape, token: z.string().describe("shown only once and not stored") })
  .meta({ id: "NewAccessToken" });

const createToken = defineContract({
  id: "createToken",
  method: "POST",
  path: "/api/v1/tokens",
  access: "operate",
  summary: "A token for the API, with the caller's rights or fewer.",
  body: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, "must be 1 to 64 letters, digits or . _ -"),
    access: z.array(grantableAccess).min(1).max(5),
    queues: z.array(queueName).min(1).max(50).optional().describe("confines a token to work"),
    handlers: z.array(handlerName).min(1).max(200).optional().describe("confines a token to work"),
    expires_at: moment.optional().describe("in 90 days by default, in 366 days at the latest"),
  }),
  response: newAccessToken,
  status: 201,
  errors: ["BAD_REQUEST", "FORBIDDEN", "TOKEN_NAME_TAKEN"],
});

const revokeToken = defineContract({
  id: "revokeToken",
  method: "POST",
  path: "/api/v1/tokens/{token_id}/revoke",
  access: "operate",
  summary: "Make a token invalid at once, and end the sessions that were opened with it.",
  params: z.object({ token_id: z.string().min(1).max(64) }),
  response: accessToken,
  errors: ["NOT_FOUND"],
});

export const signInContracts = [
  createLoginCode,
  listSessions,
  revokeSession,
  listTokens,
  createToken,
  revokeToken,
] as const;

import { z } from "zod";
import { access, defineContract } from "./contract.ts";

/** The identity that the server sees for the caller; `name` is null without one. */
const session = z
  .object({ name: z.string().nullable(), access: z.array(access) })
  .meta({ id: "Session" });

const getSession = defineContract({
  id: "getSession",
  method: "GET",
  path: "/api/v1/session",
  access: "public",
  summary: "The caller's identity and rights.",
  response: session,
  errors: ["UNAUTHENTICATED"],
});

const startSession = defineContract({
  id: "startSession",
  method: "POST",
  path: "/api/v1/session",
  access: "public",
  summary: "Exchange a login code or a token for a session cookie, which scripts cannot read.",
  body: z.union([
    z.strictObject({ code: z.string().min(1).max(64) }),
    z.strictObject({ token: z.string().min(1).max(512) }),
  ]),
  response: session,
  errors: ["BAD_REQUEST", "UNAUTHENTICATED", "FORBIDDEN"],
});

const endSession = defineContract({
  id: "endSession",
  method: "DELETE",
  path: "/api/v1/session",
  access: "public",
  summary: "End the session of the cookie, and remove the cookie.",
  response: session,
  errors: ["INTERNAL"],
});

const root = defineContract({
  id: "root",
  method: "GET",
  path: "/",
  access: "public",
  anonymous: true,
  summary: "Go to the user interface.",
  response: z.string(),
  status: 303,
  media: "text/plain",
  errors: ["INTERNAL"],
});

const uiHome = defineContract({
  id: "uiHome",
  method: "GET",
  path: "/ui",
  access: "public",
  anonymous: true,
  summary: "The user interface.",
  response: z.string(),
  media: "text/html",
  also: { 304: "unchanged" },
  errors: ["NOT_FOUND"],
});

const uiFile = defineContract({
  id: "uiFile",
  method: "GET",
  path: "/ui/{path*}",
  access: "public",
  anonymous: true,
  summary: "A file of the user interface; any other address below it is one of its pages.",
  params: z.object({ path: z.string().max(1024) }),
  response: z.string(),
  media: "text/html",
  also: { 304: "unchanged" },
  types: ["*/*"],
  errors: ["NOT_FOUND"],
});

export const uiContracts = [getSession, startSession, endSession, root, uiHome, uiFile] as const;

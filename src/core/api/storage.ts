import { z } from "zod";
import { defineContract } from "./contract.ts";

const readStored = defineContract({
  id: "readStored",
  method: "GET",
  path: "/storage/{path*}",
  access: "public",
  summary: "An object in storage, at an address that was signed for it; ranges are served.",
  params: z.strictObject({ path: z.string().min(1).max(1024) }),
  query: z.strictObject({
    expires: z.coerce.number().int().min(0),
    signature: z.string().min(1).max(128),
  }),
  response: z.string(),
  also: { 206: "The part that was asked for.", 304: "The same as before." },
  media: "application/octet-stream",
  errors: ["LINK_NOT_VALID", "NOT_FOUND", "RANGE_NOT_SATISFIABLE"],
});

export const storageContracts = [readStored] as const;

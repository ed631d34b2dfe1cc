import { z } from "zod";
import { defineContract } from "./contract.ts";
import { timestamp } from "./schemas.ts";

const check = z
  .object({
    name: z.string(),
    status: z.enum(["ok", "warning", "problem"]),
    found: z.string(),
    remedy: z.string().nullable().describe("what to change; null where nothing is wrong"),
  })
  .meta({ id: "DoctorCheck" });

const runDoctor = defineContract({
  id: "runDoctor",
  method: "POST",
  path: "/api/v1/doctor",
  access: "operate",
  summary:
    "Check this deployment. It writes a small object to each zone of storage and deletes it.",
  response: z
    .object({ checked_at: timestamp, owner_id: z.string(), checks: z.array(check) })
    .meta({ id: "DoctorReport" }),
  errors: ["UNAUTHENTICATED"],
});

export const doctorContracts = [runDoctor] as const;

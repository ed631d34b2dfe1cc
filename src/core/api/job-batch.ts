import { z } from "zod";
import { defineContract, inputsBodyLimit } from "./contract.ts";
import { submitted } from "./job-schemas.ts";
import { submission } from "./jobs.ts";
import { count, problem } from "./schemas.ts";

const submitJobs = defineContract({
  id: "submitJobs",
  method: "POST",
  path: "/api/v1/jobs/batch",
  access: "operate",
  summary:
    "Start up to 500 jobs with one request. Each has an outcome of its own, in the order given; " +
    "a body that is malformed anywhere starts none.",
  bodyLimit: inputsBodyLimit,
  body: z.strictObject({ jobs: z.array(submission).min(1).max(500) }),
  response: z
    .object({
      accepted: count,
      refused: count,
      items: z.array(
        z.discriminatedUnion("outcome", [
          z.object({ index: count, outcome: z.literal("accepted"), job: submitted }),
          z.object({ index: count, outcome: z.literal("refused"), problem }),
        ]),
      ),
    })
    .meta({ id: "JobBatchOutcome" }),
  errors: ["BAD_REQUEST"],
});

export const jobBatchContracts = [submitJobs] as const;

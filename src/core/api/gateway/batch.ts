import { z } from "zod";
import { defineContract, partnerBodyLimit } from "../contract.ts";
import { count, problem } from "../schemas.ts";
import { partnerAccepted } from "./partner-schemas.ts";

export const largestBatch = 100;

/** Items are checked one by one, so that an error in one item does not affect the others. */
const submitBatch = defineContract({
  id: "submitBatch",
  method: "POST",
  path: "/api/gateway/submit/batch",
  access: "submit",
  summary: "Submit up to 100 datasets. Each has an outcome of its own, in the order given.",
  bodyLimit: partnerBodyLimit,
  body: z.strictObject({ items: z.array(z.unknown()).min(1).max(largestBatch) }),
  response: z
    .object({
      accepted: count,
      refused: count,
      items: z.array(
        z.discriminatedUnion("outcome", [
          z.object({ index: count, outcome: z.literal("accepted"), request: partnerAccepted }),
          z.object({ index: count, outcome: z.literal("refused"), problem }),
        ]),
      ),
    })
    .meta({ id: "BatchOutcome" }),
  errors: ["BAD_REQUEST", "PAYLOAD_TOO_LARGE", "TOO_MANY_REQUESTS", "UNAVAILABLE"],
});

export const batchContracts = [submitBatch] as const;

import { createHash } from "node:crypto";
import { stageJobId } from "../../core/domain/stage-job-id.ts";
import { ambiguousNumbers } from "../../core/domain/asset-id.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { JobDeps } from "./deps.ts";
import { checkedInputs } from "./submit-jobs.ts";
import type { StageSubmission, SubmitAnswer, SubmitRequest } from "./verbs.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/**
 * Submits a job of stages. Its id follows from its type and parameters with their defaults, so a
 * second submission finds the first job by the same idempotency key.
 */
export async function submitStages(
  deps: Pick<JobDeps, "workflows">,
  submit: (request: SubmitRequest) => Promise<SubmitAnswer>,
  jobType: string,
  given: JsonObject,
  by: Pick<SubmitRequest, "submitted_by" | "trace_parent">,
): Promise<StageSubmission> {
  const workflow = await deps.workflows.ofJobType(jobType);
  const inputs = checkedInputs(workflow, given);
  const unclear = ambiguousNumbers(inputs);
  if (unclear.length > 0) {
    const message = "is a number without one certain form; send it as text";
    throw new Problem(
      "INVALID_INPUTS",
      "The id of the job cannot be made of these parameters.",
      unclear.map((pointer) => ({ pointer, code: "WRONG_INPUT", message })),
    );
  }
  const job_id = stageJobId(jobType, inputs, sha256);
  const { workflow_id, stages } = workflow.definition;
  const answer = await submit({
    workflow_id,
    inputs,
    job_id,
    idempotency_key: `stages:${job_id}`,
    ...by,
  });
  const total_stages = stages?.stages.length ?? 0;
  return { ...answer, job_type: jobType, parameters: inputs, total_stages };
}

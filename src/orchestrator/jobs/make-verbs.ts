import { isConflict, isOutage } from "../../adapters/postgres/outage.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { createBatcher } from "../../adapters/runtime/batcher.ts";
import { Problem } from "../../core/errors.ts";
import type { JobDeps } from "./deps.ts";
import type { SubmitAnswer, Verbs } from "./verbs.ts";
import { cancelJob } from "./cancel-job.ts";
import { pauseJob, resumeJob } from "./pause-job.ts";
import { rerunJob, retryJob } from "./rerun-job.ts";
import { retryNode } from "./retry-node.ts";
import type { PreparedJob } from "./submit-jobs.ts";
import { submitStages } from "./submit-stages.ts";
import { prepareJob, submitJobs } from "./submit-jobs.ts";

/** `wake` starts a tick of the engine at once, so that a request does not wait for the next poll. */
export function makeVerbs(deps: JobDeps, wake: () => void): Verbs {
  const thenWake = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const given = await answer;
    reach("request.after_commit");
    wake();
    return given;
  };
  // Submissions that arrive together share a transaction; a single one is written without delay.
  const submissions = createBatcher<PreparedJob, SubmitAnswer | Error>({
    maxItems: 100,
    flush: (batch) => submitTogether(deps, batch),
  });
  const submit: Verbs["submit"] = async (request) => {
    const answer = await submissions.add(await prepareJob(deps, request));
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    submit,
    submitStages: (jobType, parameters, by) => submitStages(deps, submit, jobType, parameters, by),
    waitForEnd: (jobId, milliseconds, signal) => deps.endWaiters.wait(jobId, milliseconds, signal),
    cancel: (jobId, reason) => thenWake(cancelJob(deps, jobId, reason)),
    pause: (jobId) => thenWake(pauseJob(deps, jobId)),
    resume: (jobId) => thenWake(resumeJob(deps, jobId)),
    retry: (jobId, request) => thenWake(retryJob(deps, jobId, request)),
    retryNode: (jobId, nodeId, request) => thenWake(retryNode(deps, jobId, nodeId, request)),
    rerun: (jobId, request) => thenWake(rerunJob(deps, jobId, request)),
  };
}

/**
 * A batch that fails is submitted job by job, so that one bad job does not fail the others. In an
 * outage of the database all fail at once: each would wait for the same time limit.
 */
async function submitTogether(
  deps: JobDeps,
  batch: readonly PreparedJob[],
): Promise<readonly (SubmitAnswer | Error)[]> {
  try {
    return await submitJobs(deps, batch);
  } catch (error) {
    if (batch.length === 1 || isLasting(error)) throw error;
    const answers: (SubmitAnswer | Error)[] = [];
    for (const one of batch) {
      const [answer] = await submitJobs(deps, [one]).catch((failure: unknown) => {
        if (isLasting(failure) || !(failure instanceof Error)) throw failure;
        return [failure];
      });
      answers.push(answer ?? new Problem("INTERNAL", "the job could not be created"));
    }
    return answers;
  }
}

function isLasting(error: unknown): boolean {
  return isOutage(error) && !isConflict(error);
}

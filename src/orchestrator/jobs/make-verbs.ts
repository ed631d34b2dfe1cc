import { reach } from "../../adapters/runtime/fail-points.ts";
import { createBatcher } from "../../adapters/runtime/batcher.ts";
import { Problem } from "../../core/errors.ts";
import type { JobDeps } from "./deps.ts";
import type { SubmitAnswer, Verbs } from "./verbs.ts";
import { cancelJob, pauseJob } from "./cancel-pause-resume.ts";
import { rerunJob, retryJob } from "./rerun-job.ts";
import type { PreparedJob } from "./submit-jobs.ts";
import { prepareJob, submitJobs } from "./submit-jobs.ts";

/** `wake` is the engine's: what was asked is looked at now and not with the next poll. */
export function makeVerbs(deps: JobDeps, wake: () => void): Verbs {
  const thenWake = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const given = await answer;
    reach("request.after_commit");
    wake();
    return given;
  };
  // Requests that arrive together share a transaction; one that comes alone waits for nobody.
  const submissions = createBatcher<PreparedJob, SubmitAnswer | Problem>({
    maxItems: 100,
    flush: (batch) => submitTogether(deps, batch),
  });
  return {
    async submit(request) {
      const answer = await submissions.add(await prepareJob(deps, request));
      if (answer instanceof Problem) throw answer;
      return answer;
    },
    waitForEnd: (jobId, milliseconds, signal) => deps.endWaiters.wait(jobId, milliseconds, signal),
    cancel: (jobId, reason) => thenWake(cancelJob(deps, jobId, reason)),
    pause: (jobId) => thenWake(pauseJob(deps, jobId, true)),
    resume: (jobId) => thenWake(pauseJob(deps, jobId, false)),
    retry: (jobId) => thenWake(retryJob(deps, jobId)),
    rerun: (jobId, request) => thenWake(rerunJob(deps, jobId, request)),
  };
}

/** What the database refuses of one must not take the others with it. */
async function submitTogether(
  deps: JobDeps,
  batch: readonly PreparedJob[],
): Promise<readonly (SubmitAnswer | Problem)[]> {
  try {
    return await submitJobs(deps, batch);
  } catch (error) {
    if (batch.length === 1) throw error;
    const answers: (SubmitAnswer | Problem)[] = [];
    for (const one of batch) {
      const [answer] = await submitJobs(deps, [one]).catch((failure: unknown) => [
        failure instanceof Problem
          ? failure
          : new Problem("INTERNAL", "the job could not be created; submit it again"),
      ]);
      answers.push(answer ?? new Problem("INTERNAL", "the job could not be created"));
    }
    return answers;
  }
}

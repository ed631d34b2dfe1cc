import { reach } from "../../adapters/runtime/fail-points.ts";
import { Problem } from "../../core/errors.ts";
import type { EngineDeps } from "../engine/deps.ts";
import type { Verbs } from "../verbs.ts";
import { cancelJob, pauseJob } from "./request-job.ts";
import { rerunJob, retryJob } from "./rerun-job.ts";
import { prepareJob, submitJobs } from "./submit-jobs.ts";

/** `wake` is the engine's: what was asked is looked at now and not with the next poll. */
export function makeVerbs(deps: EngineDeps, wake: () => void): Verbs {
  const thenWake = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const given = await answer;
    reach("request.after_commit");
    wake();
    return given;
  };
  return {
    async submit(request) {
      const [answer] = await submitJobs(deps, [await prepareJob(deps, request)]);
      if (answer === undefined || answer instanceof Problem) {
        throw answer ?? new Problem("INTERNAL", "the job could not be created");
      }
      return answer;
    },
    cancel: (jobId, reason) => thenWake(cancelJob(deps, jobId, reason)),
    pause: (jobId) => thenWake(pauseJob(deps, jobId, true)),
    resume: (jobId) => thenWake(pauseJob(deps, jobId, false)),
    retry: (jobId) => thenWake(retryJob(deps, jobId)),
    rerun: (jobId, request) => thenWake(rerunJob(deps, jobId, request)),
  };
}

import type { Caller } from "../../adapters/http/handler.ts";
import { Problem } from "../../core/errors.ts";
import { checkCallback } from "../assets/check-submission.ts";
import type { SubmitAnswer, SubmitRequest } from "./verbs.ts";
import type { RouteDeps } from "../route-deps.ts";

/** Checks where its end is to be told before anything is started. */
export async function submitJob(
  { verbs, domain }: Pick<RouteDeps, "verbs" | "domain">,
  request: SubmitRequest,
  caller: Caller | undefined,
): Promise<SubmitAnswer> {
  const { submitted_by = caller?.name, callback_url } = request;
  if (callback_url !== undefined) {
    const findings = checkCallback(domain, domain.callbacks.jobHosts, callback_url);
    if (findings.length > 0) throw new Problem("BAD_REQUEST", "Nothing was started.", findings);
  }
  return verbs.submit({ ...request, submitted_by });
}

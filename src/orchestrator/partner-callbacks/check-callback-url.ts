import { callbackProblem } from "../../core/domain/partner-callbacks.ts";
import type { ProblemItem } from "../../core/errors.ts";

export interface CallbackSettings {
  /** The secrets of all signatures are derived from this key; without it no callback is sent. */
  readonly signingKey: string | undefined;
  /** Allowed hosts for callbacks of jobs without a platform; a platform has its own list. */
  readonly jobHosts: readonly string[];
}

/** `hosts`: the list of the platform, or `jobHosts` for a job without a platform. */
export function checkCallbackUrl(
  { signingKey }: CallbackSettings,
  hosts: readonly string[],
  url: string,
): ProblemItem[] {
  const pointer = "/callback_url";
  if (signingKey === undefined) {
    const message = "callbacks are switched off here: no CALLBACK_SIGNING_KEY is configured";
    return [{ pointer, code: "CALLBACKS_OFF", message }];
  }
  const message = callbackProblem(new URL(url), hosts);
  return message === undefined ? [] : [{ pointer, code: "CALLBACK_URL", message }];
}

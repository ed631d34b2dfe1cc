import { setTimeout as pause } from "node:timers/promises";
import type { ErrorCategory } from "../../../core/model/task.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError, ThrottlingError, TransientError } from "../../errors.ts";

export const probe = defineHandler("probe", async (params, { attempt, signal }) => {
  const { mode, seconds = 1, size = 1024 } = params;
  const answer = { mode, ...(params.value === undefined ? {} : { value: params.value }) };
  switch (mode) {
    case "ok":
      return answer;
    case "fail":
      throw new TransientError("the probe fails, as asked");
    case "fail_once":
      if (attempt === 0) throw new TransientError("the probe fails once, as asked");
      return answer;
    case "permanent":
      throw new PermanentError("the probe fails for good, as asked");
    case "throttle":
      throw new ThrottlingError("the probe is throttled, as asked", { retryAfterSeconds: seconds });
    case "slow":
      await pause(seconds * 1000, undefined, { signal });
      return answer;
    case "hang":
      // Deaf to its signal, as a handler is that waits for something which never comes.
      return new Promise(() => undefined);
    case "crash":
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => undefined);
    case "large":
      return { ...answer, value: "x".repeat(size) };
    case "deep": {
      let value: unknown = "deep";
      for (let level = 0; level < size; level++) value = [value];
      return { ...answer, value };
    }
    case "cyclic": {
      const value: unknown[] = [];
      value.push(value);
      return { ...answer, value };
    }
    case "nul":
      return { ...answer, value: "a\u0000b" };
    case "script":
      await pause((params.seconds ?? 0) * 1000, undefined, { signal });
      return follow(params.script ?? ["ok"], attempt, params.value);
  }
});

/** A task whose ending is written down beforehand, so that a model can know the end of its job. */
function follow(script: readonly ("ok" | ErrorCategory)[], attempt: number, ran: unknown) {
  switch (script[Math.min(attempt, script.length - 1)]) {
    case "permanent":
      throw new PermanentError("boom");
    case "transient":
      throw new TransientError("boom");
    case "throttling":
      throw new ThrottlingError("boom");
    default:
      return { ran };
  }
}

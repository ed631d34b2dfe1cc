import { setTimeout as pause } from "node:timers/promises";
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
  }
});

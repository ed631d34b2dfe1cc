/**
 * Handlers without any geospatial work: for first workflows, the shipped *_test workflows and the
 * tests of the engine. echo, hello_world, sleep, fail, flaky_echo, size_check, chunk_processor,
 * multi_phase, probe.
 */
import { createHash, randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { ErrorCategory } from "../../core/model/task.ts";
import { defineHandler } from "../define-handler.ts";
import { PermanentError, ThrottlingError, TransientError } from "../errors.ts";
import { runPhases } from "../run-phases.ts";
import type { Phase } from "../run-phases.ts";

export const echo = defineHandler("echo", async (params) => ({ echoed_params: params }));

export const helloWorld = defineHandler("hello_world", async ({ name }) => ({
  greeting: `Hello, ${name}!`,
}));

export const sleep = defineHandler("sleep", async ({ seconds }, { signal }) => {
  await pause(seconds * 1000, undefined, { signal });
  return { slept_seconds: seconds };
});

export const fail = defineHandler("fail", async ({ message, category }) => {
  switch (category) {
    case "permanent":
      throw new PermanentError(message);
    case "transient":
      throw new TransientError(message);
    case "throttling":
      throw new ThrottlingError(message);
  }
});

const parts = 2 ** 32;

/** Fails by chance; with a `seed`, the same attempts fail in every run. */
export const flakyEcho = defineHandler("flaky_echo", async (params, { attempt }) => {
  const { failure_rate, seed, ...others } = params;
  const drawn = seed === undefined ? randomInt(parts) : drawSeeded(seed, attempt);
  if (drawn / parts < failure_rate) {
    throw new TransientError(`flaky: attempt ${attempt} failed`, { code: "FLAKY" });
  }
  return { echoed_params: others };
});

function drawSeeded(seed: number, attempt: number): number {
  return createHash("sha256").update(`${seed}/${attempt}`).digest().readUInt32BE();
}

const bytesPerMegabyte = 1024 * 1024;

export const sizeCheck = defineHandler("size_check", async (params, { storage }) => {
  const { size_mb, path, threshold_mb } = params;
  const megabytes = size_mb ?? (await sizeOf(path ?? "")) / bytesPerMegabyte;
  return { file_size_mb: megabytes, is_large: megabytes > threshold_mb };

  async function sizeOf(name: string): Promise<number> {
    const found = await storage.head(name);
    if (found === undefined) {
      throw new PermanentError(`There is no "${name}" in storage.`, { code: "FILE_NOT_FOUND" });
    }
    return found.bytes;
  }
});

export const chunkProcessor = defineHandler("chunk_processor", async (params, context) => {
  const { items, chunk_size, seconds_per_chunk } = params;
  const chunks = Math.ceil(items.length / chunk_size);
  for (let chunk = 0; chunk < chunks; chunk++) {
    context.signal.throwIfAborted();
    if (seconds_per_chunk > 0) {
      await pause(seconds_per_chunk * 1000, undefined, { signal: context.signal });
    }
    context.progress((100 * (chunk + 1)) / chunks, `chunk ${chunk + 1} of ${chunks}`);
  }
  return { processed: items.length, chunks };
});

/** Saves a checkpoint after each phase; a retry continues behind the last one. */
export const multiPhase = defineHandler("multi_phase", async (params, context) => {
  const { phases, seconds_per_phase, fail_in_phase } = params;
  const steps = Array.from({ length: phases }, (_, index): Phase => {
    const number = index + 1;
    return {
      name: `phase_${number}`,
      run: async () => {
        await pause(seconds_per_phase * 1000, undefined, { signal: context.signal });
        if (number === fail_in_phase && context.attempt === 0) {
          throw new TransientError(`phase ${number} fails once, as requested`, {
            code: "FAILED_ONCE",
          });
        }
        context.logger.info(`phase ${number} of ${phases} is done`);
        return { number };
      },
    };
  });
  const { artifacts, resumedFrom } = await runPhases(context, steps);
  return { phases_completed: artifacts.size, resumed_from: resumedFrom };
});

/** One handler for system and fault tests: its parameter `mode` selects how the task behaves. */
export const probe = defineHandler("probe", async (params, { attempt, signal, checkpoint }) => {
  const { mode, seconds = 1, size = 1024 } = params;
  const answer = { mode, ...(params.value === undefined ? {} : { value: params.value }) };
  switch (mode) {
    case "ok":
      return answer;
    case "fail":
      throw new TransientError("the probe fails, as requested");
    case "fail_once":
      if (attempt === 0) throw new TransientError("the probe fails once, as requested");
      return answer;
    case "permanent":
      throw new PermanentError("the probe fails for good, as requested");
    case "throttle":
      throw new ThrottlingError("the probe is throttled, as requested", {
        retryAfterSeconds: seconds,
      });
    case "slow":
      await pause(seconds * 1000, undefined, { signal });
      return answer;
    case "hang":
      // Ignores its abort signal, like a handler that waits for an event which never comes.
      return new Promise(() => undefined);
    case "crash":
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => undefined);
    case "crash_times": {
      const { deaths = 0 } = ((await checkpoint.load())?.data ?? {}) as { deaths?: number };
      if (deaths >= size) return { ran: params.value };
      await checkpoint.save("death", { deaths: deaths + 1 });
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => undefined);
    }
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
      return followScript(params.script ?? ["ok"], attempt, params.value);
  }
});

/** Ends each attempt as the script says, so that a test's model can predict the end of the job. */
function followScript(script: readonly ("ok" | ErrorCategory)[], attempt: number, ran: unknown) {
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

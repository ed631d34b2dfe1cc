import { z } from "zod";
import { errorCategory } from "../model/task.ts";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";

const anything = z.looseObject({});
const seconds = z.number().min(0).max(86_400);

const echo = defineContract({
  name: "echo",
  description: "Returns its parameters.",
  params: anything,
  result: z.object({ echoed_params: anything }),
  queue: queueFor.light,
  timeout_seconds: 300,
});

const helloWorld = defineContract({
  name: "hello_world",
  description: "Greets.",
  params: z.strictObject({ name: z.string().min(1).max(255).default("World") }),
  result: z.object({ greeting: z.string() }),
  queue: queueFor.general,
  timeout_seconds: 60,
});

const sleep = defineContract({
  name: "sleep",
  description: "Waits, and stops when its task is cancelled.",
  params: z.strictObject({ seconds: seconds.default(1) }),
  result: z.object({ slept_seconds: z.number() }),
  queue: queueFor.general,
  timeout_seconds: 3600,
});

const fail = defineContract({
  name: "fail",
  description: "Always fails, with the given kind of error.",
  params: z.strictObject({
    message: z.string().min(1).max(1024).default("failed on purpose"),
    category: errorCategory.default("permanent"),
  }),
  result: z.never(),
  queue: queueFor.general,
  timeout_seconds: 60,
});

const flakyEcho = defineContract({
  name: "flaky_echo",
  description: "Fails now and then, otherwise returns its other parameters.",
  params: z.looseObject({
    failure_rate: z.number().min(0).max(1).default(0.2),
    /** With the same seed the same attempts fail. */
    seed: z.number().int().optional(),
  }),
  result: z.object({ echoed_params: anything }),
  queue: queueFor.general,
  timeout_seconds: 60,
});

const multiPhase = defineContract({
  name: "multi_phase",
  description:
    "Works in phases with a checkpoint after each; a retry continues after the last one.",
  params: z.strictObject({
    phases: z.number().int().min(1).max(1000).default(3),
    seconds_per_phase: seconds.default(0.1),
    /** Fails once in this phase, to show that the next attempt resumes. */
    fail_in_phase: z.number().int().min(1).optional(),
  }),
  result: z.object({ phases_completed: z.number().int(), resumed_from: z.number().int() }),
  queue: queueFor.general,
  timeout_seconds: 3600,
});

const sizeCheck = defineContract({
  name: "size_check",
  description: "Says whether a file, or a given size, is above a threshold.",
  params: z
    .strictObject({
      size_mb: z.number().min(0).optional(),
      path: z.string().min(1).optional(),
      threshold_mb: z.number().min(0).default(100),
    })
    .refine((params) => (params.size_mb === undefined) !== (params.path === undefined), {
      message: "needs either size_mb or path",
    }),
  result: z.object({ file_size_mb: z.number(), is_large: z.boolean() }),
  queue: queueFor.light,
  timeout_seconds: 60,
});

const chunkProcessor = defineContract({
  name: "chunk_processor",
  description: "Works through a list in chunks.",
  params: z.strictObject({
    items: z.array(z.json()),
    chunk_size: z.number().int().min(1).default(10),
    seconds_per_chunk: seconds.default(0),
  }),
  result: z.object({ processed: z.number().int(), chunks: z.number().int() }),
  queue: queueFor.general,
  timeout_seconds: 600,
});

const probe = defineContract({
  name: "probe",
  description: "Behaves as its mode says; the fault tests use it.",
  params: z.strictObject({
    mode: z.enum([
      "ok",
      "fail",
      "fail_once",
      "permanent",
      "throttle",
      "slow",
      "hang",
      "crash",
      "crash_times",
      "large",
      "deep",
      "cyclic",
      "nul",
      "script",
    ]),
    seconds: seconds.optional(),
    /** Bytes of the output in mode large, levels in mode deep, deaths in mode crash_times. */
    size: z.number().int().min(0).optional(),
    /** The outcome of each attempt in mode script; the last entry repeats. */
    script: z
      .array(z.enum(["ok", ...errorCategory.options]))
      .min(1)
      .max(100)
      .optional(),
    /** Returned unchanged. */
    value: z.json().optional(),
  }),
  result: z.looseObject({ mode: z.string().optional() }),
  queue: queueFor.general,
  timeout_seconds: 60,
});

export const testingContracts = [
  echo,
  helloWorld,
  sleep,
  fail,
  flakyEcho,
  multiPhase,
  sizeCheck,
  chunkProcessor,
  probe,
] as const;

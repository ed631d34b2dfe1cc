/** What is removed after a time, by class, and after how many days. */
import { z } from "zod";

export const retentionClass = z.enum([
  "logs",
  "events",
  "results",
  "jobs",
  "callbacks",
  "requests",
  "dead_letters",
]);
export type RetentionClass = z.infer<typeof retentionClass>;

/** Classes whose rows belong to finished jobs; the others have a time of their own. */
export const jobClasses = ["logs", "events", "results", "jobs"] as const;
export type JobClass = (typeof jobClasses)[number];

export function isJobClass(name: RetentionClass): name is JobClass {
  return jobClasses.some((each) => each === name);
}

export interface RetentionSettings {
  /** Days after the end of a job, or of what the row tells. 0: it is kept for ever. */
  readonly days: Readonly<Record<RetentionClass, number>>;
  /** Rows are written to storage as Parquet before they are removed. */
  readonly archive: boolean;
}

const days = z.coerce.number().min(0).max(36_500);

export const retentionEnvironment = {
  RETENTION_LOGS_DAYS: days.default(90),
  RETENTION_RESULTS_DAYS: days.default(180),
  RETENTION_EVENTS_DAYS: days.default(365),
  RETENTION_JOBS_DAYS: days.default(730),
  RETENTION_CALLBACKS_DAYS: days.default(180),
  RETENTION_REQUESTS_DAYS: days.default(730),
  RETENTION_DEAD_LETTERS_DAYS: days.default(90),
  RETENTION_ARCHIVE: z
    .enum(["true", "false"])
    .default("false")
    .transform((text) => text === "true"),
};

export function toRetentionSettings(
  given: z.output<z.ZodObject<typeof retentionEnvironment>>,
): RetentionSettings {
  return {
    days: {
      logs: given.RETENTION_LOGS_DAYS,
      results: given.RETENTION_RESULTS_DAYS,
      events: given.RETENTION_EVENTS_DAYS,
      jobs: given.RETENTION_JOBS_DAYS,
      callbacks: given.RETENTION_CALLBACKS_DAYS,
      requests: given.RETENTION_REQUESTS_DAYS,
      dead_letters: given.RETENTION_DEAD_LETTERS_DAYS,
    },
    archive: given.RETENTION_ARCHIVE,
  };
}

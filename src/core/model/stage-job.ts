import { z } from "zod";

export const parallelism = z.enum([
  "single",
  "fixed",
  "fan_out",
  "dynamic",
  "match_previous",
  "fan_in",
]);
export type Parallelism = z.infer<typeof parallelism>;

/** What a stored workflow keeps of the stages that it was made of. */
export interface StageJob {
  readonly job_type: string;
  readonly stages: readonly {
    readonly number: number;
    readonly name: string;
    readonly task_type: string;
    readonly parallelism: Parallelism;
    /** The fan-out of its tasks, and the fan-in of their results. */
    readonly tasks_node: string;
    readonly results_node: string;
    readonly task_index?: string;
  }[];
}

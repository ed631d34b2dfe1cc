import type { api } from "../shared/api.ts";

/** A data set that is asked for, and whether it is computed. */
export type Source = Awaited<ReturnType<typeof api.listH3Sources>>["items"][number];

/** One computation. */
export type Run = Awaited<ReturnType<typeof api.listH3Runs>>["items"][number];

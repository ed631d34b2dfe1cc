import { z } from "zod";
import { jobStatus } from "../model/job.ts";
import { currentTask, job, jobEvent, nodeSummary } from "./job-schemas.ts";

/**
 * A message of the live stream of one job. `seq` is the last event that a message covers; a client
 * that reconnects after it gets exactly the messages that it missed. `nodes` hold the state of
 * every static node that the events changed, fan-outs with the counts of their children.
 */
export const streamMessage = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("snapshot"), seq: z.number().int(), job }),
    z.object({
      type: z.literal("events"),
      seq: z.number().int(),
      events: z.array(jobEvent),
      nodes: z.array(nodeSummary),
    }),
    /** The progress of running tasks. It is not an event and cannot be resumed. */
    z.object({ type: z.literal("progress"), tasks: z.array(currentTask) }),
    z.object({ type: z.literal("end"), seq: z.number().int(), status: jobStatus }),
  ])
  .meta({ id: "StreamMessage" });
export type StreamMessage = z.infer<typeof streamMessage>;

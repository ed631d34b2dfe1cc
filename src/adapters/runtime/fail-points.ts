/**
 * Places at which a test ends or freezes the process: between any two steps of a protocol whose
 * halves must not depend on each other. The names are one list, so the crash matrix, which loops
 * over it, cannot forget one. Nothing is armed outside of tests, and then a place costs one
 * comparison.
 */
import { z } from "zod";

export const failPoints = [
  "submit.before_write",
  "submit.jobs_inserted",
  "submit.before_commit",
  "submit.after_commit",
  "tick.jobs_locked",
  "tick.before_write",
  "write.children_completed",
  "write.nodes_inserted",
  "write.nodes_updated",
  "write.children_released",
  "write.nodes_cancelled",
  "write.events_inserted",
  "write.results_processed",
  "write.jobs_updated",
  "write.messages_withdrawn",
  "write.messages_published",
  "tick.before_commit",
  "tick.after_commit",
  "take_over.before_commit",
  "take_over.after_commit",
  "request.before_commit",
  "request.after_commit",
  "accept.before_submit",
  "accept.before_settle",
  "accept.after_settle",
  "relay.before_send",
  "relay.after_send",
  "outside.before_lease",
  "outside.after_lease",
  "outside.dead_letter_listed",
  "push.before_send",
  "push.report_received",
  "recover.before",
  "recover.dead_letters_taken",
  "recover.after",
  "sign_off.before",
  "sign_off.after",
  "callback.before_record",
  "callback.after_record",
  "remote.leased",
  "remote.recorded",
  "remote.checkpoint_saved",
  "worker.received",
  "worker.before_run",
  "worker.after_run",
  "worker.before_report",
  "worker.after_report",
  "worker.checkpoint_before_save",
  "worker.checkpoint_after_save",
] as const;

/** Those of uploads, which the faults of files loop over. */
export const uploadFailPoints = [
  "upload.part_saved",
  "upload.part_confirmed",
  "upload.before_publish",
  "upload.published",
] as const;

export type FailPoint = (typeof failPoints)[number];
type AnyFailPoint = FailPoint | (typeof uploadFailPoints)[number];

/** `name`, `name:3` for the third time it is reached, `name:3:SIGSTOP` to freeze and not to die. */
export const failPointSpec = z
  .string()
  .regex(/^[a-z_.]+(:[1-9]\d*(:SIG(KILL|STOP))?)?$/, "must be name[:nth[:SIGKILL or SIGSTOP]]")
  .transform((text) => {
    const [name = "", nth = "1", signal = "SIGKILL"] = text.split(":");
    return { name, left: Number(nth), signal };
  })
  .refine(
    ({ name }) => [...failPoints, ...uploadFailPoints].some((known) => known === name),
    "names no fail-point",
  );

let armed: z.output<typeof failPointSpec> | undefined;

export function arm(spec: z.output<typeof failPointSpec> | undefined): void {
  armed = spec && { ...spec };
}

export function reach(name: AnyFailPoint): void {
  if (armed?.name !== name || --armed.left > 0) return;
  const { signal } = armed;
  armed = undefined;
  process.kill(process.pid, signal);
}

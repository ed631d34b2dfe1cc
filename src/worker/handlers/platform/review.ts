/**
 * Handlers trigger_approval, approve_dataset and reject_dataset. A worker changes no asset: it asks
 * an orchestrator, whose verbs check and record the change like every other.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { z } from "zod";
import {
  askOrchestrator,
  findAnswer,
} from "../../../adapters/postgres/repositories/task-requests.ts";
import type { platformContracts } from "../../../core/handlers/platform.ts";
import type { TaskRequest } from "../../../core/model/task-request.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError, TransientError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";

type Reviewed = z.output<
  Extract<(typeof platformContracts)[number], { name: "approve_dataset" }>["result"]
>;

const pollMs = 200;

export const triggerApproval = defineHandler("trigger_approval", (params, context) =>
  ask(context, { action: "trigger_approval", params }),
);

export const approveDataset = defineHandler("approve_dataset", (params, context) => {
  const { asset_id, version_ordinal, clearance, note } = params;
  const reviewer = params.reviewer ?? `workflow ${context.job_id}`;
  const common = { asset_id, version_ordinal, clearance, reviewer };
  return ask(context, {
    action: "approve",
    params: note == null ? common : { ...common, note },
  });
});

export const rejectDataset = defineHandler("reject_dataset", (params, context) => {
  const { asset_id, version_ordinal, reason } = params;
  const reviewer = params.reviewer ?? `workflow ${context.job_id}`;
  return ask(context, {
    action: "reject",
    params: { asset_id, version_ordinal, reason, reviewer },
  });
});

async function ask(context: HandlerContext, request: TaskRequest): Promise<Reviewed> {
  const database = requireDatabase(context);
  await askOrchestrator(database, context, request);
  for (;;) {
    const answer = await findAnswer(database, context.task_id);
    if (answer?.ok === true) return answer.result as unknown as Reviewed;
    if (answer !== undefined) {
      const { code, message, retry } = answer;
      throw retry ? new TransientError(message, { code }) : new PermanentError(message, { code });
    }
    await pause(pollMs, undefined, { signal: context.signal });
  }
}

import { systemClock } from "../../adapters/runtime/clock.ts";
import type { Client } from "../../core/api/client.ts";
import type { Job } from "../../core/api/job-schemas.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { Failure } from "../common/failure.ts";
import { describeChanges } from "../watch/describe-node.ts";
import { followJob } from "../watch/follow-job.ts";
import type { JobView } from "../watch/job-view.ts";
import { applyMessage } from "../watch/job-view.ts";
import { firstFailure } from "../watch/report-end.ts";

export interface Ingested {
  readonly job_id: string;
  readonly collection_id: string;
  readonly item_id: string;
  readonly seconds: number;
}

/** Submits a workflow, reports each step with `onLine`, and answers the item that it made. */
export async function ingest(options: {
  readonly client: Client;
  readonly workflow: string;
  readonly inputs: JsonObject;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}): Promise<Ingested> {
  const { client, workflow, inputs, signal, onLine } = options;
  const { job_id } = await client.submitJob({ body: { workflow_id: workflow, inputs } });
  let view: JobView | undefined;
  for await (const message of followJob({ client, jobId: job_id, signal })) {
    const before: JobView | undefined = view;
    view = applyMessage(before, message);
    for (const line of describeChanges(before, view, systemClock.now())) onLine(line);
  }
  signal.throwIfAborted();
  const job = await client.getJob({ params: { job_id } });
  if (job.status !== "completed") {
    throw new Failure([`${workflow} ${job.status}.`, ...firstFailure(job)].join("\n"));
  }
  return { job_id, ...itemOf(job), seconds: secondsOf(job) };
}

function itemOf({ result_data: result, workflow_id }: Job) {
  const text = (...names: string[]) => {
    const found = names.map((name) => result?.[name]).find((value) => typeof value === "string");
    if (typeof found === "string") return found;
    throw new Failure(`The result of ${workflow_id} does not name the item that it made.`);
  };
  return {
    collection_id: text("collection_id", "stac_collection_id"),
    item_id: text("item_id", "stac_item_id"),
  };
}

function secondsOf({ created_at, completed_at }: Job): number {
  return (Date.parse(completed_at ?? created_at) - Date.parse(created_at)) / 1000;
}

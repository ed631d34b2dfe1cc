import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { JobWithoutNodes } from "../../adapters/postgres/queries/jobs.ts";
import { readNodeData } from "../../adapters/postgres/queries/nodes.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { NotInStorage } from "../../adapters/storage/storage.ts";
import { readValue, resolveReferences } from "../../adapters/storage/stored-values.ts";
import { Problem } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { isFinished } from "../../core/model/job.ts";
import { parentOfChild } from "../../core/model/node.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import { isReference } from "../../core/model/value-reference.ts";
import { openJob, requireNode } from "./find-job.ts";
import type { Hidden, ShowDeps } from "./show-values.ts";
import { hiddenOf, hide, resultReference, showParams } from "./show-values.ts";

export interface ValueDeps extends ShowDeps {
  readonly storage: Storage;
}

interface NodeDeps extends ValueDeps {
  readonly db: Database;
}

async function openNode(deps: NodeDeps, jobId: string, nodeId: string) {
  const { job, db } = await openJob(deps, jobId, {
    children: parentOfChild(nodeId)?.node_id ?? "",
  });
  return { job, db, node: await requireNode({ ...deps, db }, job, nodeId) };
}

/** Answers with the whole result of a job, however large it is. */
export async function serveResult(deps: ValueDeps, job: JobWithoutNodes): Promise<Answer> {
  const { result_data: result, status, job_id } = job;
  if (result === null) {
    if (!isFinished(status)) {
      throw new Problem("RESULT_NOT_READY", `Job "${job_id}" is ${status}: wait for its end.`);
    }
    const why = job.error === null ? "" : `: ${job.error.message}`;
    throw new Problem("RESULT_FAILED", `Job "${job_id}" ${status}${why}`);
  }
  const { reference } = resultReference(result);
  const hidden = await hiddenOf(deps, job);
  return reference === undefined
    ? json(hide(hidden, result))
    : serveReference(deps, hidden, job_id, reference);
}

/** The whole result of a job that completed, for an answer that holds it. */
export async function wholeResult(deps: ValueDeps, job: JobWithoutNodes): Promise<JsonObject> {
  const { result_data: result } = job;
  if (result === null) return {};
  const { reference } = resultReference(result);
  const whole = reference === undefined ? result : await read(deps.storage, reference);
  return hide(await hiddenOf(deps, job), whole as JsonObject);
}

export async function serveOutput(deps: NodeDeps, jobId: string, nodeId: string): Promise<Answer> {
  const { job, node, db } = await openNode(deps, jobId, nodeId);
  const { output } = await readNodeData(db, node);
  if (output === null) {
    throw new Problem("RESULT_NOT_READY", `Node "${nodeId}" is ${node.status}: it has no output.`);
  }
  const hidden = await hiddenOf({ ...deps, db }, job, nodeId);
  return isReference(output)
    ? serveReference(deps, hidden, jobId, output)
    : json(hide(hidden, output));
}

export async function serveParams(deps: NodeDeps, jobId: string, nodeId: string): Promise<Answer> {
  const { job, node, db } = await openNode(deps, jobId, nodeId);
  const { params } = await readNodeData(db, node);
  if (params === null) {
    throw new Problem("RESULT_NOT_READY", `Node "${nodeId}" is ${node.status}: it did not start.`);
  }
  const whole = await resolveReferences(deps.storage, params).catch(asProblem);
  const hidden = await hiddenOf({ ...deps, db }, job, nodeId);
  return json(showParams(hidden, nodeId, whole as JsonObject));
}

/** Streams the stored bytes where nothing in them is hidden and their path proves their hash. */
async function serveReference(
  { storage }: ValueDeps,
  hidden: Hidden | undefined,
  jobId: string,
  reference: ValueReference,
): Promise<Answer> {
  const isOwn = reference.$ref === `results/${jobId}/${reference.sha256}.json`;
  if (hidden !== undefined || !isOwn) return json(hide(hidden, await read(storage, reference)));
  const { body, object } = await storage.stream(reference.$ref).catch(asProblem);
  return new Answer(body, { headers: { "content-length": String(object.bytes) } });
}

function json(value: Json): Answer {
  return new Answer(JSON.stringify(value));
}

async function read(storage: Storage, reference: ValueReference): Promise<Json> {
  return readValue(storage, reference).catch(asProblem);
}

function asProblem(error: unknown): never {
  if (error instanceof NotInStorage) throw new Problem("NOT_FOUND", error.message);
  throw error;
}

/**
 * Prepares the values of a job for readers: secrets become dots, and a value that is kept in storage
 * becomes the address of the route that gives it whole.
 */
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import type { JobWithoutNodes } from "../../adapters/postgres/queries/jobs.ts";
import { readParams } from "../../adapters/postgres/queries/nodes.ts";
import { valuesOf } from "../../core/dag/secrets.ts";
import type { SecretNames } from "../../core/dag/secrets.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { Mask, hideMembers } from "../../core/model/mask.ts";
import { parentOfChild } from "../../core/model/node.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import { isReference, replaceReferences } from "../../core/model/value-reference.ts";

export interface ShowDeps {
  readonly db: Queryable;
  readonly graphs: GraphCache;
  /** An address with `{trace_id}`; undefined: no tool shows traces. */
  readonly traceUrlTemplate?: string | undefined;
}

type JobPart = Pick<JobWithoutNodes, "job_id" | "workflow_hash" | "input_params">;

/** What is hidden in a job: values wherever they occur, inputs and parameters by their names. */
export interface Hidden {
  readonly mask: Mask;
  readonly names: SecretNames;
}

/** Undefined: the workflow names no secrets. `nodeId` adds the secrets of this one node. */
export async function hiddenOf(
  { db, graphs }: ShowDeps,
  job: JobPart,
  nodeId?: string,
): Promise<Hidden | undefined> {
  const names = (await graphs.graphOf(job.workflow_hash))?.secrets;
  if (names === undefined) return undefined;
  const values = valuesOf(job.input_params, names.inputs);
  const ids = [...names.params.keys(), ...(nodeId === undefined ? [] : [nodeId])];
  if (names.params.size > 0) {
    for (const { node_id, params } of await readParams(db, job.job_id, ids)) {
      values.push(...valuesOf(params, secretParams(names, node_id)));
    }
  }
  return { mask: new Mask(values), names };
}

function secretParams({ params }: SecretNames, nodeId: string): readonly string[] {
  return params.get(parentOfChild(nodeId)?.node_id ?? nodeId) ?? [];
}

export async function showJob<Job extends JobWithoutNodes>(
  deps: ShowDeps,
  job: Job,
): Promise<Job & { readonly trace_url: string | null }> {
  const hidden = await hiddenOf(deps, job);
  return {
    ...job,
    trace_url: traceUrl(deps.traceUrlTemplate, job.trace_id),
    input_params: hidden ? showInputs(hidden, job.input_params) : job.input_params,
    result_data: job.result_data && showResult(hidden, job.job_id, job.result_data),
  };
}

function traceUrl(template: string | undefined, traceId: string | null): string | null {
  if (template === undefined || traceId === null) return null;
  return template.replaceAll(/(?:\{|%7B)trace_id(?:\}|%7D)/gi, traceId);
}

function showInputs({ mask, names }: Hidden, inputs: JsonObject): JsonObject {
  return mask.value(hideMembers(inputs, names.inputs));
}

function showResult(hidden: Hidden | undefined, jobId: string, result: JsonObject): JsonObject {
  const { reference, provenance } = resultReference(result);
  if (reference === undefined) return hide(hidden, result);
  return { ...at(`${pathOf(jobId)}/result`, reference), _provenance: provenance };
}

/** The row of a large result holds its reference beside the provenance. */
export function resultReference({ _provenance, ...rest }: JsonObject): {
  readonly reference: ValueReference | undefined;
  readonly provenance: Json;
} {
  return { reference: isReference(rest) ? rest : undefined, provenance: _provenance ?? null };
}

interface NodeValues {
  readonly params: JsonObject | null;
  readonly output: JsonObject | null;
}

export function showNodeValues(
  hidden: Hidden | undefined,
  jobId: string,
  nodeId: string,
  { params, output }: NodeValues,
): NodeValues {
  const path = `${pathOf(jobId)}/nodes/${encodeURIComponent(nodeId)}`;
  return {
    params:
      params &&
      (replaceReferences(showParams(hidden, nodeId, params), (reference, pointer) =>
        at(`${path}/params#${pointer}`, reference),
      ) as JsonObject),
    output:
      output && isReference(output) ? at(`${path}/output`, output) : output && hide(hidden, output),
  };
}

export function showParams(
  hidden: Hidden | undefined,
  nodeId: string,
  params: JsonObject,
): JsonObject {
  if (hidden === undefined) return params;
  return hidden.mask.value(hideMembers(params, secretParams(hidden.names, nodeId)));
}

export function hide<Value extends Json>(hidden: Hidden | undefined, value: Value): Value {
  return hidden === undefined ? value : hidden.mask.value(value);
}

function at(address: string, { bytes, sha256 }: ValueReference): JsonObject {
  return { $ref: address, bytes, sha256 };
}

function pathOf(jobId: string): string {
  return `/api/v1/jobs/${encodeURIComponent(jobId)}`;
}

import type { Decision } from "../../core/dag/evaluate/decision.ts";
import type { Evaluated } from "../../core/dag/evaluate/evaluate.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import { valuesOf } from "../../core/dag/secrets.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { Mask } from "../../core/model/mask.ts";
import { parentOfChild } from "../../core/model/node.ts";
import type { TaskError } from "../../core/model/task.ts";
import { findReferences } from "../../core/model/value-reference.ts";
import type { JobState } from "./job-state.ts";

/** Hides the secrets of a job, as far as its state holds them. Undefined: its workflow names none. */
export function maskOf(state: JobState): Mask | undefined {
  const { secrets } = state.graph;
  if (secrets === undefined) return undefined;
  const values = valuesOf(state.row.input_params, secrets.inputs);
  for (const [nodeId, names] of secrets.params) {
    values.push(...valuesOf(state.nodes.get(nodeId)?.params ?? {}, names));
  }
  return new Mask(values);
}

/** Errors are written to events, rows, lists and callbacks, so they are masked before any of them. */
export function maskErrors(mask: Mask, evaluated: Evaluated): Evaluated {
  const decisions = evaluated.decisions.map((decision): Decision => {
    switch (decision.type) {
      case "retry":
      case "fail":
      case "fail_job":
        return { ...decision, error: maskError(mask, decision.error) };
      default:
        return decision;
    }
  });
  const changes = new Map(
    [...evaluated.changes].map(([id, fact]) => [id, maskFact(mask, fact)] as const),
  );
  return { ...evaluated, decisions, changes };
}

function maskFact(mask: Mask, fact: NodeFact): NodeFact {
  const { error, fan_out } = fact;
  if (error === undefined && fan_out?.first_errors === undefined) return fact;
  const first_errors = fan_out?.first_errors?.map((each) => mask.value(each));
  return {
    ...fact,
    error: error && maskError(mask, error),
    ...(fan_out === undefined || first_errors === undefined
      ? {}
      : { fan_out: { ...fan_out, first_errors } }),
  };
}

function maskError(mask: Mask, error: TaskError): TaskError {
  const { message, details } = error;
  return {
    ...error,
    message: mask.text(message),
    ...(details === undefined ? {} : { details: mask.value(details) }),
  };
}

/** The secrets among the parameters of a task; its worker hides them in logs and errors. */
export function secretsIn(state: JobState, nodeId: string, params: JsonObject): Json[] {
  const { secrets } = state.graph;
  if (secrets === undefined) return [];
  const own = secrets.params.get(parentOfChild(nodeId)?.node_id ?? nodeId) ?? [];
  const ofInputs = valuesOf(state.row.input_params, secrets.inputs);
  const isStored = findReferences(params).length > 0;
  const used = ofInputs.filter((value) => isStored || new Mask([value]).occursIn(params));
  return [...used, ...valuesOf(params, own)];
}

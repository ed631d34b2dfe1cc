import type { ProblemItem } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";

/** What a workflow learns of the version it works for, if it declares an input of that name. */
export interface DomainInputs {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly version_label: string;
  readonly revision: number;
  readonly request_id: string;
  readonly platform_id: string;
  readonly platform_refs: JsonObject;
}

const names = [
  ...(["asset_id", "version_ordinal", "version_label", "revision"] as const),
  ...(["request_id", "platform_id", "platform_refs"] as const),
];

export function domainInputs(
  { inputs }: Pick<WorkflowDefinition, "inputs">,
  values: DomainInputs,
): JsonObject {
  return Object.fromEntries(
    names
      .filter((name) => inputs !== undefined && Object.hasOwn(inputs, name))
      .map((name): [string, Json] => [name, values[name]]),
  );
}

/** They are ours to say: a platform that sets them would write into another's place. */
export function reservedInputs(
  { inputs }: Pick<WorkflowDefinition, "inputs">,
  given: JsonObject,
): ProblemItem[] {
  return names
    .filter((name) => inputs !== undefined && Object.hasOwn(inputs, name))
    .filter((name) => Object.hasOwn(given, name))
    .map((name) => ({
      pointer: `/inputs/${name}`,
      code: "RESERVED_INPUT",
      message: "is set by the platform itself: leave it out",
    }));
}

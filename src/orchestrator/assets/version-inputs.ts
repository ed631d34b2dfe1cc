import type { ProblemItem } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";

/** The version that a workflow works for. */
export interface ProcessedVersion {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly version_label: string;
  readonly revision: number;
  readonly request_id: string;
  readonly platform_id: string;
  readonly platform_refs: JsonObject;
}

/**
 * What a workflow learns of its version, if it declares an input of that name. Where the outputs go
 * is among it: a platform that could name them would write into another's place, and a revision
 * that did not have a table of its own could not be returned to.
 */
const inputs: Readonly<Record<string, (version: ProcessedVersion) => Json>> = {
  asset_id: ({ asset_id }) => asset_id,
  version_ordinal: ({ version_ordinal }) => version_ordinal,
  version_label: ({ version_label }) => version_label,
  revision: ({ revision }) => revision,
  request_id: ({ request_id }) => request_id,
  platform_id: ({ platform_id }) => platform_id,
  platform_refs: ({ platform_refs }) => platform_refs,
  item_id: ({ asset_id, version_ordinal }) => `${asset_id}-v${version_ordinal}`,
  table_name: ({ asset_id, version_ordinal, revision }) =>
    `a${asset_id.slice(0, 20)}_v${version_ordinal}_r${revision}`,
  platform: platformOf,
};

export function domainInputs(
  definition: Pick<WorkflowDefinition, "inputs">,
  version: ProcessedVersion,
): JsonObject {
  return Object.fromEntries(
    declared(definition).map(([name, valueOf]): [string, Json] => [name, valueOf(version)]),
  );
}

/** They are ours to say. */
export function reservedInputs(
  definition: Pick<WorkflowDefinition, "inputs">,
  given: JsonObject,
): ProblemItem[] {
  return declared(definition)
    .filter(([name]) => Object.hasOwn(given, name))
    .map(([name]) => ({
      pointer: `/inputs/${name}`,
      code: "RESERVED_INPUT",
      message: "is chosen for each version: leave it out",
    }));
}

function declared({ inputs: named = {} }: Pick<WorkflowDefinition, "inputs">) {
  return Object.entries(inputs).filter(([name]) => Object.hasOwn(named, name));
}

/** The platform's own names, as texts: catalogue items carry them as `platform:dataset_id` and so on. */
function platformOf({ platform_refs, version_label, request_id }: ProcessedVersion): JsonObject {
  const refs = Object.entries(platform_refs)
    .filter(([name]) => /^[a-z][a-z0-9_]*$/.test(name))
    .map(([name, value]) => [
      name,
      (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 255),
    ]);
  return { ...Object.fromEntries(refs), version_id: version_label, request_id } as JsonObject;
}

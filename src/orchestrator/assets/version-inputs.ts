import type { ProblemItem } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";

/** The version that a job processes. */
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
 * Inputs that describe the version. A workflow that declares an input of such a name gets the value;
 * a platform cannot set it. Names of outputs are among them: a platform that chose them could write
 * over the outputs of another, and a rollback needs a table for each revision.
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

export function versionInputs(
  definition: Pick<WorkflowDefinition, "inputs">,
  version: ProcessedVersion,
): JsonObject {
  return Object.fromEntries(
    declared(definition).map(([name, valueOf]): [string, Json] => [name, valueOf(version)]),
  );
}

/** A submission that sets one of these inputs is refused. */
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

/** The references of the platform as strings; items have them as `platform:dataset_id` and so on. */
function platformOf({ platform_refs, version_label, request_id }: ProcessedVersion): JsonObject {
  const refs = Object.entries(platform_refs)
    .filter(([name]) => /^[a-z][a-z0-9_]*$/.test(name))
    .map(([name, value]) => [
      name,
      (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 255),
    ]);
  return { ...Object.fromEntries(refs), version_id: version_label, request_id } as JsonObject;
}

import { platformNames, versionItemId } from "../../core/domain/platform-names.ts";
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
  item_id: (version) => versionItemId(version),
  table_name: ({ asset_id, version_ordinal, revision }) =>
    `a${asset_id.slice(0, 20)}_v${version_ordinal}_r${revision}`,
  platform: platformNames,
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

/** A place in the source tree: keys and indexes from the root. */
export type TreePath = readonly (string | number)[];

/** One error or warning about a workflow. The file reader turns `path` into line and column. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly path: TreePath;
  /** Whether the finding points at the key or at its value. */
  readonly at?: "key" | "value";
  /** Characters into the string at `path`, where the error is inside a template. */
  readonly offset?: number;
}

/** Every code that `validate` can print, with its meaning. The docs list them from here. */
export const findingCodes = {
  YAML_SYNTAX: "the file is not valid YAML",
  YAML_DUPLICATE_KEY: "a key occurs twice in one mapping",
  YAML_ALIAS_LIMIT: "anchors and aliases expand to more than is allowed",
  YAML_UNSUPPORTED: "the file uses a YAML feature that workflows do not have",
  FILE_TOO_LARGE: "the file is larger than a workflow may be",
  FILE_UNREADABLE: "the file cannot be read",
  TOO_DEEP: "the tree is nested too deeply",
  TOO_LARGE: "the tree holds more values than are allowed",
  TOO_MANY_NODES: "the workflow has more nodes than are allowed",
  WRONG_TYPE: "a value has the wrong type",
  WRONG_VALUE: "a value is not one of those allowed",
  MISSING_KEY: "a required key is missing",
  UNKNOWN_KEY: "a key is not known here",
  NO_NODES: "the workflow has no nodes",
  SEVERAL_STARTS: "there is more than one start node",
  UNKNOWN_NODE: "an edge or a template names a node that does not exist",
  SELF_EDGE: "a node follows itself",
  CYCLE: "the graph has a cycle",
  UNREACHABLE: "a node cannot be reached from the start",
  CONDITIONAL_FORM: "a conditional mixes its two forms or lacks a part of one",
  NO_DEFAULT_BRANCH: "a conditional has no default branch",
  UNREACHABLE_BRANCH: "a branch follows the default branch and can never be taken",
  CONDITION_SYNTAX: "a condition cannot be parsed",
  TEMPLATE_SYNTAX: "a template cannot be parsed",
  UNKNOWN_REFERENCE: "a template refers to something that is not in its context",
  UNKNOWN_INPUT: "a template refers to an input that is not declared",
  NOT_AN_ANCESTOR: "a template refers to a node that does not come before",
  MAY_BE_SKIPPED: "a template reads the output of a node that may be skipped",
  MAY_BE_MISSING: "a template reads an optional input that has no default",
  ENV_NOT_ALLOWED: "a template refers to an environment name that is not on the allow-list",
  UNKNOWN_HANDLER: "no handler has this name",
  UNKNOWN_QUEUE: "no queue has this name",
  WRONG_PARAMETER: "a parameter does not fit the handler's schema",
  MISSING_PARAMETER: "a parameter that the handler requires is missing",
  UNKNOWN_PARAMETER: "the handler has no such parameter",
  WRONG_INPUT: "an input declaration contradicts itself",
  UNUSED_DEFAULT: "an input is required and has a default",
  FAN_IN_WITHOUT_FAN_OUT: "a failure budget is given, but no fan-out comes directly before",
  DUPLICATE_WORKFLOW: "two files define the same workflow",
} as const;
export type FindingCode = keyof typeof findingCodes;

export function errorAt(
  code: FindingCode,
  path: TreePath,
  message: string,
  where: Pick<Finding, "at" | "offset"> = {},
): Finding {
  return { code, severity: "error", message, path, ...where };
}

export function warningAt(
  code: FindingCode,
  path: TreePath,
  message: string,
  where: Pick<Finding, "at" | "offset"> = {},
): Finding {
  return { code, severity: "warning", message, path, ...where };
}

/** Writes a value as messages show it. */
export function describe(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value !== "string") return JSON.stringify(value);
  return value.length > 40 ? `"${value.slice(0, 40)}…"` : `"${value}"`;
}

/** Finds the secrets that a definition names: inputs and parameters with `secret: true`. */
import type { Json, JsonObject } from "../model/json.ts";
import { dots, hideMembers, isSecretParameter } from "../model/mask.ts";
import type { InputDeclaration, NodeDefinition, WorkflowDefinition } from "../model/workflow.ts";
import { taskOf } from "../model/workflow.ts";

export interface SecretNames {
  readonly inputs: readonly string[];
  /** The names of a node's secret parameters, by node. */
  readonly params: ReadonlyMap<string, readonly string[]>;
}

/** Undefined: the definition names none, which is known once for all jobs of its graph. */
export function secretNames({ inputs, nodes }: WorkflowDefinition): SecretNames | undefined {
  const names = Object.entries(inputs ?? {}).flatMap(([name, { secret }]) =>
    secret === true ? [name] : [],
  );
  const params = new Map<string, readonly string[]>();
  for (const [id, node] of Object.entries(nodes)) {
    const secret = taskOf(node)?.secret_params;
    if (secret !== undefined) params.set(id, secret);
  }
  return names.length === 0 && params.size === 0 ? undefined : { inputs: names, params };
}

export function valuesOf(object: JsonObject, names: readonly string[]): Json[] {
  return names.flatMap((name) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    return value === undefined ? [] : [value];
  });
}

/**
 * Takes the written parameters apart: their values, and the names of those that are secret. A
 * parameter with a secret inside is hidden whole.
 */
export function readSecretParams(written: JsonObject): {
  readonly params: JsonObject;
  readonly secret_params: readonly string[];
} {
  const params = unwrap(written) as JsonObject;
  const secret_params = Object.keys(written).filter((name) => params[name] !== written[name]);
  return { params, secret_params };
}

/** Answers the value itself where it holds no secret. */
function unwrap(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (isSecretParameter(value)) return value.value;
  const entries = Object.entries(value).map(([key, member]: [string, Json]): [string, Json] => [
    key,
    unwrap(member),
  ]);
  if (entries.every(([key, plain]) => plain === (value as Record<string, Json>)[key])) return value;
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

/** The secrets that stand in the definition itself: defaults and literal parameters. */
export function literalSecrets(definition: WorkflowDefinition): Json[] {
  const defaults = Object.values(definition.inputs ?? {}).flatMap((input) =>
    input.secret === true && input.default !== undefined ? [input.default] : [],
  );
  const literals = Object.values(definition.nodes).flatMap((node) => {
    const { params = {}, secret_params = [] } = taskOf(node) ?? {};
    if (typeof params === "string") return [];
    return valuesOf(params, secret_params).filter((value) => !holdsTemplate(value));
  });
  return [...defaults, ...literals];
}

function holdsTemplate(value: Json): boolean {
  return JSON.stringify(value).includes("{{");
}

/** The definition as it is shown: defaults of secret inputs and secret parameters are dots. */
export function hideInDefinition(definition: WorkflowDefinition): WorkflowDefinition {
  if (secretNames(definition) === undefined) return definition;
  const nodes = Object.entries(definition.nodes).map(
    ([id, node]) => [id, hideInNode(node)] as const,
  );
  return {
    ...definition,
    ...(definition.inputs === undefined ? {} : { inputs: hideDefaults(definition.inputs) }),
    nodes: Object.fromEntries(nodes),
  };
}

type Inputs = Readonly<Record<string, InputDeclaration>>;

export function hideDefaults(inputs: Inputs): Inputs {
  const shown = Object.entries(inputs).map(([name, input]) => {
    const isHidden = input.secret === true && input.default !== undefined;
    return [name, isHidden ? { ...input, default: dots } : input] as const;
  });
  return Object.fromEntries(shown);
}

function hideInNode(node: NodeDefinition): NodeDefinition {
  if (node.type === "task") return { ...node, params: hideLiterals(node) };
  if (node.type !== "fan_out") return node;
  return { ...node, task: { ...node.task, params: hideLiterals(node.task) } };
}

/** A template names where the secret comes from and shows nothing of it. */
function hideLiterals(task: {
  readonly params: JsonObject | string;
  readonly secret_params?: readonly string[] | undefined;
}): JsonObject | string {
  const { params } = task;
  if (typeof params === "string") return params;
  const literal = (task.secret_params ?? []).filter((name) => !holdsTemplate(params[name] ?? null));
  return hideMembers(params, literal);
}

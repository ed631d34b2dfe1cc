import type { z } from "zod";
import type { JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { InputDeclaration, NodeSource } from "../../model/workflow.ts";
import { inputDeclaration, nodeName, nodeSources, workflowHead } from "../../model/workflow.ts";
import type { Finding, TreePath } from "../finding.ts";
import { errorAt } from "../finding.ts";
import { schemaFindings, sourceVocabulary } from "./schema-findings.ts";
import { didYouMean } from "../suggest.ts";

export const mostNodes = 50_000;

/** A workflow as far as it could be read: an error in one node hides nothing of the others. */
export interface Source {
  readonly head: Omit<z.output<typeof workflowHead>, "nodes" | "inputs"> | undefined;
  /** Undefined: the author declared no inputs. Declarations that cannot be read are left out. */
  readonly inputs: ReadonlyMap<string, InputDeclaration> | undefined;
  readonly nodes: ReadonlyMap<string, SourceNode>;
}

export interface SourceNode {
  readonly raw: unknown;
  /** The written type, or the default type. Undefined: there is no such type. */
  readonly type: NodeSource["type"] | undefined;
  /** Undefined if the node breaks its schema. */
  readonly parsed: NodeSource | undefined;
}

/** The mapping with a node's `handler` and `params` as the author wrote it, and where it stands. */
export function taskSourceOf(
  id: string,
  { raw, type }: SourceNode,
): { readonly written: unknown; readonly path: TreePath } | undefined {
  if (!isJsonObject(raw)) return undefined;
  switch (type) {
    case "task":
      return { written: raw, path: ["nodes", id] };
    case "fan_out":
      return { written: raw["task"], path: ["nodes", id, "task"] };
    default:
      return undefined;
  }
}

export function readSource(tree: unknown, findings: Finding[]): Source {
  const nothing = { head: undefined, inputs: undefined, nodes: new Map<string, SourceNode>() };
  if (!isJsonObject(tree)) {
    findings.push(errorAt("WRONG_TYPE", [], "a workflow is a mapping with `nodes`"));
    return nothing;
  }
  const { inputs, ...rest } = tree;
  const head = workflowHead.safeParse(rest);
  if (!head.success) {
    const { issues } = head.error;
    findings.push(...schemaFindings(workflowHead, tree, issues, [], sourceVocabulary, ["inputs"]));
  }
  return {
    head: head.data,
    inputs: inputs === undefined ? undefined : readInputs(inputs, findings),
    nodes: isJsonObject(tree["nodes"]) ? readNodes(tree["nodes"], findings) : nothing.nodes,
  };
}

function readInputs(raw: unknown, findings: Finding[]): Map<string, InputDeclaration> {
  const inputs = new Map<string, InputDeclaration>();
  if (!isJsonObject(raw)) {
    findings.push(errorAt("WRONG_TYPE", ["inputs"], "expected a mapping of input declarations"));
    return inputs;
  }
  for (const [name, declaration] of Object.entries(raw)) {
    const path = ["inputs", name];
    checkName(name, path, findings);
    // `name:` alone declares an input without further rules.
    const result = inputDeclaration.safeParse(declaration ?? {});
    if (result.success) inputs.set(name, result.data);
    else findings.push(...schemaFindings(inputDeclaration, declaration, result.error.issues, path));
  }
  return inputs;
}

function readNodes(raw: JsonObject, findings: Finding[]): Map<string, SourceNode> {
  const nodes = new Map<string, SourceNode>();
  const entries = Object.entries(raw);
  if (entries.length === 0) {
    findings.push(errorAt("NO_NODES", ["nodes"], "a workflow needs at least one node"));
  }
  if (entries.length > mostNodes) {
    const message = `${entries.length} nodes; a workflow may have at most ${mostNodes}`;
    findings.push(errorAt("TOO_MANY_NODES", ["nodes"], message, { at: "key" }));
    return nodes;
  }
  for (const [id, node] of entries) {
    checkName(id, ["nodes", id], findings);
    nodes.set(id, readNode(id, node, findings));
  }
  return nodes;
}

function readNode(id: string, raw: unknown, findings: Finding[]): SourceNode {
  const path = ["nodes", id];
  if (!isJsonObject(raw)) {
    findings.push(errorAt("WRONG_TYPE", path, "a node is a mapping", { at: "key" }));
    return { raw, type: undefined, parsed: undefined };
  }
  const type = Object.hasOwn(raw, "type") ? raw["type"] : "task";
  if (typeof type !== "string" || !isNodeType(type)) {
    const known = Object.keys(nodeSources);
    const hint = typeof type === "string" ? didYouMean(type, known) : "";
    findings.push(
      errorAt("WRONG_VALUE", [...path, "type"], `type must be ${known.join(", ")}${hint}`),
    );
    return { raw, type: undefined, parsed: undefined };
  }
  const schema = nodeSources[type];
  const result = schema.safeParse({ ...raw, type });
  if (result.success) return { raw, type, parsed: result.data };
  findings.push(...schemaFindings(schema, raw, result.error.issues, path));
  return { raw, type, parsed: undefined };
}

function isNodeType(type: string): type is NodeSource["type"] {
  return Object.hasOwn(nodeSources, type);
}

function checkName(name: string, path: (string | number)[], findings: Finding[]): void {
  const result = nodeName.safeParse(name);
  if (result.success) return;
  const [issue] = result.error.issues;
  const why =
    issue?.code === "custom" || issue?.code === "invalid_format"
      ? issue.message
      : "must have 1 to 64 characters";
  findings.push(errorAt("WRONG_VALUE", path, `the name "${name}" ${why}`, { at: "key" }));
}

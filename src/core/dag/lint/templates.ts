import type { Json, JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import { parseCondition } from "../language/condition.ts";
import type { Finding, TreePath } from "../finding.ts";
import { errorAt } from "../finding.ts";
import { holdsTemplate } from "./tasks.ts";
import type { Source } from "../source/read-source.ts";
import { taskSourceOf } from "../source/read-source.ts";
import type { Reference, TemplateParser } from "../language/template.ts";

/** A reference, and the place in the source that makes it. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly path: TreePath;
  /** The node whose template it is; undefined: the workflow's outputs. */
  readonly node: string | undefined;
  /** In the parameters of a fan-out's task, where `item` and `index` exist. */
  readonly perItem: boolean;
}

/** Parses every template and condition, of broken nodes too, and returns their references. */
export function lintTemplates(
  source: Source,
  tree: unknown,
  parse: TemplateParser,
  findings: Finding[],
): PlacedReference[] {
  const references: PlacedReference[] = [];

  function place(
    found: readonly Reference[],
    base: TreePath,
    node: string | undefined,
    perItem = false,
  ): void {
    for (const reference of found) {
      references.push({ reference, path: [...base, ...reference.at], node, perItem });
    }
  }

  function template(value: Json | undefined, base: TreePath, node?: string, perItem = false): void {
    if (value === undefined || !mayHoldTemplate(value)) return;
    const parsed = parse(value);
    place(parsed.ok ? parsed.template.references : parsed.references, base, node, perItem);
    if (parsed.ok) return;
    for (const { message, at, offset } of parsed.problems) {
      findings.push(errorAt("TEMPLATE_SYNTAX", [...base, ...at], message, { offset }));
    }
  }

  function condition(
    value: Json | undefined,
    form: "whole" | "short",
    base: TreePath,
    node: string,
  ): void {
    if (typeof value !== "string" || value === "") return;
    const parsed = parseCondition(value, form);
    place(parsed.ok ? parsed.condition.references : parsed.references, base, node);
    if (parsed.ok) return;
    for (const { message, offset } of parsed.problems) {
      findings.push(errorAt("CONDITION_SYNTAX", base, message, { offset }));
    }
  }

  /** Refuses plain text where only a template makes sense: it would be used as the value itself. */
  function templateOnly(value: Json | undefined, base: TreePath, node: string): void {
    if (typeof value === "string" && value !== "" && !holdsTemplate(value)) {
      const message = `"${value}" is plain text; write "{{ ${value} }}" to refer to a value`;
      findings.push(errorAt("WRONG_VALUE", base, message));
    } else template(value, base, node);
  }

  function conditional(raw: JsonObject, base: TreePath, id: string): void {
    const { condition_field: field, branches } = raw;
    templateOnly(field, [...base, "condition_field"], id);
    condition(raw["condition"], "whole", [...base, "condition"], id);
    if (!Array.isArray(branches)) return;
    const form = field === undefined ? "whole" : "short";
    for (const [index, branch] of (branches as Json[]).entries()) {
      if (!isJsonObject(branch)) continue;
      condition(branch["condition"], form, [...base, "branches", index, "condition"], id);
    }
  }

  for (const [id, node] of source.nodes) {
    const { raw, type } = node;
    if (!isJsonObject(raw)) continue;
    const base = ["nodes", id];
    if (type === "conditional") conditional(raw, base, id);
    if (type === "fan_out") templateOnly(raw["source"], [...base, "source"], id);
    const task = taskSourceOf(id, node);
    if (!isJsonObject(task?.written)) continue;
    template(task.written["params"], [...task.path, "params"], id, type === "fan_out");
  }
  if (isJsonObject(tree)) template(tree["outputs"], ["outputs"]);
  return references;
}

/** Looks for any brace and not for `{{`, because the parser also refuses statements and comments. */
function mayHoldTemplate(value: Json): boolean {
  if (typeof value === "string") return value.includes("{");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(mayHoldTemplate);
}

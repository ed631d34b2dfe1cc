import type { Json } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import { parseCondition } from "../language/condition.ts";
import type { Finding, TreePath } from "../compile/finding.ts";
import { errorAt } from "../compile/finding.ts";
import { holdsTemplate } from "./params.ts";
import type { TemplateParser } from "../language/parse-once.ts";
import type { Source } from "../compile/read-source.ts";
import type { Reference } from "../language/template.ts";

/** A reference and where it is made. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly path: TreePath;
  /** The node whose template it is; undefined: the workflow's outputs. */
  readonly node: string | undefined;
  /** In the parameters of a fan-out's task, where `item` and `index` exist. */
  readonly perItem: boolean;
}

/** Parses every template and condition, of broken nodes too, and hands on what they refer to. */
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
    if (parsed.ok) {
      place(parsed.template.references, base, node, perItem);
      return;
    }
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
    if (parsed.ok) {
      place(parsed.condition.references, base, node);
      return;
    }
    for (const { message, offset } of parsed.problems) {
      findings.push(errorAt("CONDITION_SYNTAX", base, message, { offset }));
    }
  }

  /** Text where only a template makes sense; without one it would be taken for itself. */
  function templateOnly(value: Json | undefined, base: TreePath, node: string): void {
    if (typeof value === "string" && value !== "" && !holdsTemplate(value)) {
      const message = `"${value}" is plain text; write "{{ ${value} }}" to refer to a value`;
      findings.push(errorAt("WRONG_VALUE", base, message));
    } else template(value, base, node);
  }

  for (const [id, { raw, type }] of source.nodes) {
    if (!isJsonObject(raw)) continue;
    const base = ["nodes", id];
    if (type === "task") template(raw["params"], [...base, "params"], id);
    if (type === "fan_out") {
      templateOnly(raw["source"], [...base, "source"], id);
      const task = raw["task"];
      if (isJsonObject(task)) template(task["params"], [...base, "task", "params"], id, true);
    }
    if (type === "conditional") {
      const field = raw["condition_field"];
      templateOnly(field, [...base, "condition_field"], id);
      condition(raw["condition"], "whole", [...base, "condition"], id);
      const branches = raw["branches"];
      if (!Array.isArray(branches)) continue;
      const form = field === undefined ? "whole" : "short";
      for (const [index, branch] of (branches as Json[]).entries()) {
        if (!isJsonObject(branch)) continue;
        condition(branch["condition"], form, [...base, "branches", index, "condition"], id);
      }
    }
  }
  if (isJsonObject(tree)) template(tree["outputs"], ["outputs"]);
  return references;
}

/** Any brace pair is worth the parser's look: it also refuses statements and comments. */
function mayHoldTemplate(value: Json): boolean {
  if (typeof value === "string") return value.includes("{");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(mayHoldTemplate);
}

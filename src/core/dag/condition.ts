import type { Json } from "../model/json.ts";
import type { Reference, TemplateContext, TemplateProblem } from "./template.ts";

export interface Condition {
  readonly source: string;
  readonly references: readonly Reference[];
}

export type ParsedCondition =
  | { readonly ok: true; readonly condition: Condition }
  | { readonly ok: false; readonly problems: readonly TemplateProblem[] };

export type Verdict =
  | { readonly ok: true; readonly value: boolean }
  | { readonly ok: false; readonly message: string };

export function parseCondition(text: string, _form: "whole" | "short"): ParsedCondition {
  return { ok: true, condition: { source: text, references: [] } };
}

export function holds(_condition: Condition, _context: TemplateContext, _field?: Json): Verdict {
  return { ok: false, message: "conditions are not evaluated yet" };
}

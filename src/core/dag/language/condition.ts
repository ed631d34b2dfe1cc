import type { Json } from "../../model/json.ts";
import type { Test } from "./condition-parse.ts";
import { parseTest } from "./condition-parse.ts";
import { readCondition } from "./condition-tokens.ts";
import type { TemplateContext } from "./expression/scope.ts";
import { Scope, defaultLimits, explain, maxSourceLength } from "./expression/scope.ts";
import type { Reference, TemplateProblem } from "./template.ts";

export interface Condition {
  readonly source: string;
  readonly references: readonly Reference[];
  /** The compiled condition; only `holds` calls it. */
  readonly test: Test;
}

export type ParsedCondition =
  | { readonly ok: true; readonly condition: Condition }
  | {
      readonly ok: false;
      readonly problems: readonly TemplateProblem[];
      readonly references: readonly Reference[];
    };

export type Verdict =
  { readonly ok: true; readonly value: boolean } | { readonly ok: false; readonly message: string };

/** "whole": a complete condition. "short": the part after a `condition_field`, such as `< 100`. */
export function parseCondition(text: string, form: "whole" | "short"): ParsedCondition {
  if (text.length > maxSourceLength) {
    const message = `a condition may have ${maxSourceLength} characters, this one has ${text.length}`;
    return { ok: false, problems: [{ message, at: [], offset: 0 }], references: [] };
  }
  const words = readCondition(text);
  const { references } = words;
  if (!words.ok) {
    const problems = words.problems.map((problem) => ({ ...problem, at: [] }));
    return { ok: false, problems, references };
  }
  const parsed = parseTest(words.tokens, form, text.length);
  if (!parsed.ok) return { ok: false, problems: [{ ...parsed.problem, at: [] }], references };
  return { ok: true, condition: { source: text, references, test: parsed.test } };
}

/**
 * Evaluates a condition. A condition that cannot be evaluated gives a message and never counts as
 * false.
 */
export function holds(condition: Condition, context: TemplateContext, field?: Json): Verdict {
  try {
    return { ok: true, value: condition.test(new Scope(context, defaultLimits), field) };
  } catch (error) {
    return { ok: false, message: explain(error) };
  }
}

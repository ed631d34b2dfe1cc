import { parseExpression } from "./expression/parse-expression.ts";
import { toText } from "./expression/operators.ts";
import type { Evaluate, Scope } from "./expression/scope.ts";
import { demand, maxSourceLength } from "./expression/scope.ts";
import type { ExpressionProblem } from "./expression/tokens.ts";
import type { ExpressionReference } from "./expression/tree.ts";

export type ParsedText =
  | { readonly kind: "literal" }
  | {
      readonly kind: "expressions";
      readonly evaluate: Evaluate;
      readonly references: readonly ExpressionReference[];
    }
  | {
      readonly kind: "problems";
      readonly problems: readonly ExpressionProblem[];
      /** The references of the expressions that could be read. */
      readonly references?: readonly ExpressionReference[];
    };

const foreign = [
  {
    open: "{%",
    close: "%}",
    message: "statements {% %} are not available, only {{ expressions }}",
  },
  { open: "{#", close: "#}", message: "comments {# #} are not available in a template" },
];

/**
 * Parses one string of a template: plain text, one expression that keeps its type, or both mixed.
 */
export function parseText(text: string): ParsedText {
  if (!text.includes("{{")) {
    // A lone `{%` or `{#` may be a date format or a colour; with its closing part it is Jinja.
    const pair = findForeign(text, 0, text.length);
    return pair === undefined ? { kind: "literal" } : { kind: "problems", problems: [pair] };
  }
  if (text.length > maxSourceLength) {
    const message = `a string with {{ }} may have ${maxSourceLength} characters, this one has ${text.length}`;
    return { kind: "problems", problems: [{ message, offset: 0 }] };
  }

  const parts: (string | Evaluate)[] = [];
  const references: ExpressionReference[] = [];
  const problems: ExpressionProblem[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{{", at);
    const literalEnd = open === -1 ? text.length : open;
    const pair = findForeign(text, at, literalEnd);
    if (pair !== undefined) problems.push(pair);
    if (literalEnd > at) parts.push(text.slice(at, literalEnd));
    if (open === -1) break;
    const parsed = parseExpression(text, open + 2);
    if (parsed.ok) {
      parts.push(parsed.evaluate);
      references.push(...parsed.references);
    } else {
      problems.push(...parsed.problems);
      references.push(...(parsed.references ?? []));
    }
    if (parsed.end === undefined) break;
    at = parsed.end;
  }
  if (problems.length > 0) return { kind: "problems", problems, references };

  const meant = parts.filter((part) => typeof part !== "string" || part.trim() !== "");
  const only = meant.length === 1 ? meant[0] : undefined;
  const evaluate = typeof only === "function" ? only : mix(parts);
  return { kind: "expressions", evaluate, references };
}

function mix(parts: readonly (string | Evaluate)[]): Evaluate {
  return (scope: Scope) => {
    let result = "";
    for (const part of parts) {
      result += typeof part === "string" ? part : toText(demand(part(scope)), scope);
      scope.allowLength(result.length);
    }
    return result;
  };
}

function findForeign(text: string, from: number, to: number): ExpressionProblem | undefined {
  for (const { open, close, message } of foreign) {
    const offset = text.indexOf(open, from);
    // Only the start must lie in the literal part, because a statement may contain an expression.
    if (offset !== -1 && offset < to && text.includes(close, offset + 2))
      return { message, offset };
  }
  return undefined;
}

import type { Json } from "../../model/json.ts";
import { parseExpression } from "./expression/parse-expression.ts";
import { contextRoots } from "./expression/path.ts";
import type { Evaluate } from "./expression/scope.ts";
import type { ExpressionProblem } from "./expression/tokens.ts";
import { readString } from "./expression/tokens.ts";
import type { Reference } from "./template.ts";

/** A token of a condition, with its place and its source text. */
export type ConditionToken = {
  readonly offset: number;
  readonly source: string;
} & (
  | { readonly kind: "symbol"; readonly symbol: string }
  | { readonly kind: "word" }
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "expression"; readonly evaluate: Evaluate }
);

export type ConditionTokens =
  | {
      readonly ok: true;
      readonly tokens: readonly ConditionToken[];
      readonly references: readonly Reference[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly ExpressionProblem[];
      readonly references: readonly Reference[];
    };

const space = /\s*/y;
const symbol = /==|!=|<=|>=|<|>|\(|\)|\[|\]|,/y;
const word = /[^\s()[\],'"<>=!{}]+/y;
const numeral = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const path = new RegExp(
  `(?:${contextRoots.join("|")})` +
    String.raw`(?:\.\w+|\[(?:-?\d+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\])+(?![^\s()[\],<>=!])`,
  "y",
);
/** These roots are plain words when they stand alone; before an operator they are references. */
const bareRoot =
  /(?:inputs|item|index|job)(?=\s*(?:==|!=|<|>)|\s+(?:(?:not\s+)?in|not_in|contains|starts_with|ends_with|is)\b)/y;
const calculation = new RegExp(`^(?:${contextRoots.join("|")})[.[]`);

const constants = new Map<string, Json>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["none", null],
  ["None", null],
]);

const hints = new Map([
  ["&&", "&& is not an operator; write and"],
  ["||", "|| is not an operator; write or"],
  ["=", "= is not an operator; write =="],
  ["!", "! is not an operator; write not"],
  ["{", "an expression is written in two braces: {{ … }}"],
]);

export function readCondition(text: string): ConditionTokens {
  const tokens: ConditionToken[] = [];
  const references: Reference[] = [];
  const problems: ExpressionProblem[] = [];
  let at = 0;

  const expression = (start: number, end?: number): boolean => {
    const parsed = parseExpression(text, start, end);
    if (parsed.ok) {
      const source = text.slice(at, parsed.end);
      tokens.push({ kind: "expression", evaluate: parsed.evaluate, offset: at, source });
      for (const reference of parsed.references) references.push({ ...reference, at: [] });
    } else {
      problems.push(...parsed.problems);
      for (const reference of parsed.references ?? []) references.push({ ...reference, at: [] });
    }
    if (parsed.end === undefined) return false;
    at = parsed.end;
    return true;
  };
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? "";
  };

  for (;;) {
    at += match(space).length;
    if (at >= text.length) break;
    const offset = at;
    const character = text.charAt(at);
    if (text.startsWith("{{", at)) {
      if (!expression(at + 2)) break;
      continue;
    }
    const reference = match(path) || match(bareRoot);
    if (reference !== "") {
      if (!expression(at, at + reference.length)) break;
      continue;
    }
    if (character === "'" || character === '"') {
      const literal = readString(text, at, text.length);
      if (!literal.ok) {
        problems.push({ message: literal.message, offset: literal.offset });
        break;
      }
      at = literal.end;
      const source = text.slice(offset, at);
      tokens.push({ kind: "value", value: literal.value, offset, source });
      continue;
    }
    const source = match(symbol) || match(word);
    const hint = hints.get(source === "" ? character : source);
    if (source === "" || hint !== undefined) {
      problems.push({ message: hint ?? `unexpected ${character}`, offset });
      break;
    }
    at += source.length;
    const problem = classify(source, offset, tokens);
    if (problem !== undefined) problems.push({ message: problem, offset });
  }
  return problems.length > 0
    ? { ok: false, problems, references }
    : { ok: true, tokens, references };
}

function classify(source: string, offset: number, tokens: ConditionToken[]): string | undefined {
  symbol.lastIndex = 0;
  const constant = constants.get(source);
  if (symbol.test(source)) tokens.push({ kind: "symbol", symbol: source, offset, source });
  else if (constant !== undefined) tokens.push({ kind: "value", value: constant, offset, source });
  else if (numeral.test(source)) {
    const value = Number(source);
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      return `the number ${source} is too large to be exact; quote it to compare it as text`;
    }
    tokens.push({ kind: "value", value, offset, source });
  } else if (calculation.test(source)) {
    return `${source} is not a plain path; write a calculation in braces, {{ … }}, and a text in quotes`;
  } else tokens.push({ kind: "word", offset, source });
  return undefined;
}

import type { Json } from "../../model/json.ts";
import { comparisons } from "./condition-operators.ts";
import type { ConditionToken } from "./condition-tokens.ts";
import { isEqual, isTruthy } from "./expression/operators.ts";
import type { Evaluate, Scope } from "./expression/scope.ts";
import { Failure, Missing, demand, maxExpressionDepth } from "./expression/scope.ts";
import type { ExpressionProblem } from "./expression/tokens.ts";
import { didYouMean } from "../suggest.ts";

/*
 * Parses a condition by recursive descent: or > and > not > comparison > operand. In the short form
 * a comparison without a left operand compares the field, and a lone value means that the field
 * equals it.
 */

export type Test = (scope: Scope, field: Json | undefined) => boolean;

interface Operand {
  readonly token: ConditionToken;
  readonly evaluate: Evaluate;
}

class Unparsable extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export type ParsedTest =
  | { readonly ok: true; readonly test: Test }
  | { readonly ok: false; readonly problem: ExpressionProblem };

const reserved = new Set(["and", "or", "not", "is", ...comparisons.keys()]);

export function parseTest(
  tokens: readonly ConditionToken[],
  form: "whole" | "short",
  end: number,
): ParsedTest {
  let position = 0;
  let depth = 0;

  const peek = (ahead = 0): string | undefined => {
    const token = tokens[position + ahead];
    return token?.kind === "word" || token?.kind === "symbol" ? token.source : undefined;
  };
  const accept = (source: string): boolean => {
    if (peek() !== source) return false;
    position += 1;
    return true;
  };
  const fail = (message: string, token = tokens[position]): never => {
    throw new Unparsable(message, token?.offset ?? end);
  };
  const nested = <Result>(parse: () => Result): Result => {
    depth += 1;
    if (depth > maxExpressionDepth) {
      fail(`the condition is nested deeper than ${maxExpressionDepth} levels`);
    }
    const result = parse();
    depth -= 1;
    return result;
  };

  function parseOr(): Test {
    const parts = [parseAnd()];
    while (accept("or")) parts.push(parseAnd());
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    return (scope, field) => parts.some((part) => part(scope, field));
  }

  function parseAnd(): Test {
    const parts = [parseNot()];
    while (accept("and")) parts.push(parseNot());
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    return (scope, field) => parts.every((part) => part(scope, field));
  }

  function parseNot(): Test {
    if (peek() !== "not" || peek(1) === "in") return parseComparison();
    position += 1;
    const test = nested(parseNot);
    return (scope, field) => !test(scope, field);
  }

  /** `is_null(x)` and `is_not_null(x)`: a value that is missing counts as null here. */
  function parseNullTest(negate: boolean): Test {
    position += 2;
    const { evaluate } = parseOperand();
    if (!accept(")")) {
      if (position >= tokens.length) fail("( is never closed");
      unexpected();
    }
    return (scope) => {
      scope.spend(1);
      const value = evaluate(scope);
      return (value instanceof Missing || value === null) !== negate;
    };
  }

  function parseComparison(): Test {
    const first = tokens[position];
    if (peek(1) === "(") {
      if (peek() === "is_null") return parseNullTest(false);
      if (peek() === "is_not_null") return parseNullTest(true);
    }
    if (accept("(")) {
      const test = nested(parseOr);
      if (!accept(")")) {
        if (position >= tokens.length) fail("( is never closed", first);
        unexpected();
      }
      if (startsOperator()) fail("parentheses hold a whole condition and cannot be compared");
      return test;
    }
    if (startsOperator()) {
      if (form === "whole") {
        fail(`nothing stands before ${peek() ?? ""}; name a value there, or use condition_field`);
      }
      return parseOperator(undefined);
    }
    const left = parseOperand();
    if (startsOperator()) {
      if (isBareWord(left)) return failBareWord(left);
      return parseOperator(left);
    }
    if (form === "short") {
      return (scope, field) => isEqual(known(field), demand(left.evaluate(scope)), scope);
    }
    if (isBareWord(left)) return failBareWord(left);
    return (scope) => isTruthy(demand(left.evaluate(scope)), scope);
  }

  function startsOperator(): boolean {
    const source = peek();
    if (source === "not") return peek(1) === "in";
    return source === "is" || (source !== undefined && comparisons.has(source));
  }

  function parseOperator(left: Operand | undefined): Test {
    const value = (scope: Scope, field: Json | undefined): Json => {
      scope.spend(1);
      return left === undefined ? known(field) : demand(left.evaluate(scope));
    };
    if (accept("is")) {
      const negate = accept("not");
      const token = tokens[position];
      if (token?.kind !== "value" || token.value !== null) {
        fail(
          "after is comes null or not null; other tests are written in braces: {{ a is defined }}",
        );
      }
      position += 1;
      return (scope, field) => (value(scope, field) === null) !== negate;
    }
    const operator = accept("not") ? "not_in" : (peek() ?? "");
    const compare = comparisons.get(operator);
    if (compare === undefined) return unexpected();
    position += 1;
    const { evaluate: right } = parseOperand();
    return (scope, field) => compare(value(scope, field), demand(right(scope)), scope);
  }

  function parseOperand(): Operand {
    const token = tokens[position];
    if (token === undefined) return fail("a value is missing at the end");
    if (token.kind === "symbol" && token.symbol === "[") return nested(() => parseList(token));
    if (token.kind === "symbol" || reserved.has(token.source)) {
      return fail(`a value is missing before ${token.source}`);
    }
    position += 1;
    if (token.kind === "expression") return { token, evaluate: token.evaluate };
    const value = token.kind === "value" ? token.value : token.source;
    return { token, evaluate: () => value };
  }

  function parseList(token: ConditionToken): Operand {
    position += 1;
    const elements: Evaluate[] = [];
    while (!accept("]")) {
      if (position >= tokens.length) fail("[ is never closed", token);
      elements.push(parseOperand().evaluate);
      if (!accept(",") && peek() !== "]") {
        if (position >= tokens.length) fail("[ is never closed", token);
        fail("a comma is missing; a text of several words is written in quotes");
      }
    }
    const evaluate: Evaluate = (scope) => {
      scope.spend(elements.length);
      return elements.map((element) => demand(element(scope)));
    };
    return { token, evaluate };
  }

  function unexpected(): never {
    const source = tokens[position]?.source ?? "";
    const hint = didYouMean(source, reserved);
    return fail(
      `unexpected ${source.slice(0, 64)}; a text of several words is written in quotes${hint}`,
    );
  }

  try {
    if (tokens.length === 0) fail("the condition is empty");
    const test = parseOr();
    if (position < tokens.length) unexpected();
    return { ok: true, test };
  } catch (error) {
    if (!(error instanceof Unparsable)) throw error;
    return { ok: false, problem: { message: error.message, offset: error.offset } };
  }
}

function isBareWord(operand: Operand): boolean {
  return operand.token.kind === "word";
}

function failBareWord({ token }: Operand): never {
  throw new Unparsable(
    `${token.source} is only a word; write a value as inputs.name or {{ … }}, and a text in quotes`,
    token.offset,
  );
}

function known(field: Json | undefined): Json {
  if (field === undefined) throw new Failure("the condition is about a field, and there is none");
  return field;
}

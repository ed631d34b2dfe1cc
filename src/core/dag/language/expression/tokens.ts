/*
 * Splits an expression into tokens with their places. The Jinja parser takes tokens and drops their
 * places, and its own tokenizer does not record them, rewrites string literals that hold `{%
 * generation %}`, and reads `{{-1}}` as 1. So the tokens are made here, and only the parser comes
 * from the package. Names carry their offset through the tree as `name@offset`; operators stay the
 * same objects.
 */

/** Token types by the names that the parser uses. */
type TokenType =
  | "Identifier"
  | "NumericLiteral"
  | "StringLiteral"
  | "AdditiveBinaryOperator"
  | "MultiplicativeBinaryOperator"
  | "ComparisonBinaryOperator"
  | "OpenParen"
  | "CloseParen"
  | "OpenSquareBracket"
  | "CloseSquareBracket"
  | "OpenCurlyBracket"
  | "CloseCurlyBracket"
  | "OpenExpression"
  | "CloseExpression"
  | "Comma"
  | "Dot"
  | "Colon"
  | "Pipe"
  | "Equals";

export interface Token {
  readonly type: TokenType;
  readonly value: string;
  readonly offset: number;
  readonly end: number;
}

export interface ExpressionProblem {
  readonly message: string;
  readonly offset: number;
}

export type Tokens =
  | { readonly ok: true; readonly tokens: readonly Token[]; readonly end: number }
  | { readonly ok: false; readonly problem: ExpressionProblem };

const keywords = new Set(["and", "or", "not", "in", "is", "if", "else"]);

const symbols = new Map<string, TokenType>([
  ["//", "MultiplicativeBinaryOperator"],
  ["<=", "ComparisonBinaryOperator"],
  [">=", "ComparisonBinaryOperator"],
  ["==", "ComparisonBinaryOperator"],
  ["!=", "ComparisonBinaryOperator"],
  ["<", "ComparisonBinaryOperator"],
  [">", "ComparisonBinaryOperator"],
  ["+", "AdditiveBinaryOperator"],
  ["-", "AdditiveBinaryOperator"],
  ["~", "AdditiveBinaryOperator"],
  ["*", "MultiplicativeBinaryOperator"],
  ["/", "MultiplicativeBinaryOperator"],
  ["%", "MultiplicativeBinaryOperator"],
  ["(", "OpenParen"],
  [")", "CloseParen"],
  ["[", "OpenSquareBracket"],
  ["]", "CloseSquareBracket"],
  ["{", "OpenCurlyBracket"],
  ["}", "CloseCurlyBracket"],
  [",", "Comma"],
  [".", "Dot"],
  [":", "Colon"],
  ["|", "Pipe"],
  ["=", "Equals"],
]);

const refused = new Map([
  ["**", "the operator ** is not available"],
  ["{{", "{{ inside an expression: close the first with }}, names need no braces of their own"],
  ["&&", "&& is not an operator; write and"],
  ["||", "|| is not an operator; write or"],
]);

const space = /\s*/y;
const word = /[A-Za-z_]\w*/y;
const number = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const integer = /\d+/y;

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/**
 * Reads the tokens from `start` to the closing `}}`, or to `end` if it is given. `}}` inside a
 * string or an object literal does not close the expression.
 */
export function readTokens(text: string, start: number, end?: number): Tokens {
  const tokens: Token[] = [];
  const limit = end ?? text.length;
  let curlyBrackets = 0;
  let at = start;

  const fail = (message: string, offset: number): Tokens => ({
    ok: false,
    problem: { message, offset },
  });
  const push = (type: TokenType, value: string, length: number): void => {
    tokens.push({ type, value, offset: at, end: at + length });
    at += length;
  };

  for (;;) {
    at += match(space, text, at).length;
    if (at >= limit) {
      if (end !== undefined) return { ok: true, tokens, end: limit };
      return fail("{{ is never closed with }}", start - 2);
    }
    const pair = text.slice(at, at + 2);
    if (end === undefined && curlyBrackets === 0) {
      if (pair === "}}") return { ok: true, tokens, end: at + 2 };
      const trims = at === start ? /^[-+]/.test(pair) : text.startsWith("-}}", at);
      if (trims) {
        return fail("{{- and -}} are not available; put a space after {{ for a sign", at);
      }
    }
    const message = refused.get(pair);
    if (message !== undefined) return fail(message, at);

    const afterDot = tokens.at(-1)?.type === "Dot";
    const name = match(word, text, at);
    const digits = name === "" ? match(afterDot ? integer : number, text, at) : "";
    if (name !== "") {
      const isKeyword = !afterDot && keywords.has(name);
      push("Identifier", isKeyword ? name : `${name}@${at}`, name.length);
    } else if (digits !== "") {
      const value = Number(digits);
      if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
        return fail(`the number ${digits} is too large to be exact; write it as a string`, at);
      }
      push("NumericLiteral", digits, digits.length);
    } else if (pair.startsWith("'") || pair.startsWith('"')) {
      const literal = readString(text, at, limit);
      if (!literal.ok) return fail(literal.message, literal.offset);
      push("StringLiteral", literal.value, literal.end - at);
    } else {
      const symbol = symbols.has(pair) ? pair : pair.slice(0, 1);
      const type = symbols.get(symbol);
      if (type === undefined) {
        const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
        return fail(
          `unexpected character ${character}; a name with such characters is written in quotes: a["name"]`,
          at,
        );
      }
      if (symbol === "{") curlyBrackets += 1;
      if (symbol === "}") curlyBrackets -= 1;
      push(type, symbol, symbol.length);
    }
  }
}

const escapes = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["'", "'"],
  ['"', '"'],
  ["\\", "\\"],
]);

export type StringLiteral =
  | { readonly ok: true; readonly value: string; readonly end: number }
  | { readonly ok: false; readonly message: string; readonly offset: number };

/** Reads the string literal whose quote stands at `start`. */
export function readString(text: string, start: number, limit: number): StringLiteral {
  const quote = text.charAt(start);
  let value = "";
  let at = start + 1;
  while (at < limit) {
    const character = text.charAt(at);
    if (character === quote) return { ok: true, value, end: at + 1 };
    if (character === "\\") {
      const escaped = escapes.get(text.charAt(at + 1));
      if (escaped === undefined) {
        const message = "unknown escape in a string; for a backslash write \\\\";
        return { ok: false, message, offset: at };
      }
      value += escaped;
      at += 2;
    } else {
      value += character;
      at += 1;
    }
  }
  return { ok: false, message: `the string is never closed with ${quote}`, offset: start };
}

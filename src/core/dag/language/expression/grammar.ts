import type { ExpressionProblem, Token } from "./tokens.ts";
import { maxExpressionDepth } from "./scope.ts";

/*
 * Refuses what the parser accepts but this language does not have. The parser reads `[1 2]` as `[1,
 * 2]`, drops the second operand of `a[1 2]`, reads `a == b == c` as `(a == b) == c`, and knows
 * calls, slices and tuples. The check runs on the tokens, because the tree has lost the places. It
 * also protects the recursive parser from a thousand open brackets.
 */

interface Frame {
  readonly opening: Token | undefined;
  readonly kind: "top" | "group" | "arguments" | "list" | "index" | "object";
  /** A comparison was seen, and no token since then has ended it. */
  compared: boolean;
}

const closers = new Map([
  [")", "("],
  ["]", "["],
  ["}", "{"],
]);

const endsComparison = new Set(["and", "or", "if", "else", ",", ":"]);

export function checkTokens(tokens: readonly Token[], text: string): ExpressionProblem | undefined {
  const top: Frame = { opening: undefined, kind: "top", compared: false };
  const frames: Frame[] = [top];
  let prefixes = 0;
  let elses = 0;
  /** The previous token ended an operand, so an operator must follow. */
  let ended = false;

  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    const frame = frames.at(-1) ?? top;
    const fail = (message: string, at: Token = token): ExpressionProblem => ({
      message,
      offset: at.offset,
    });
    const open = (kind: Frame["kind"]): void => {
      frames.push({ opening: token, kind, compared: false });
      ended = false;
    };

    switch (token.type) {
      case "OpenParen":
        if (!ended) open("group");
        else if (tokens[index - 2]?.type === "Pipe") open("arguments");
        else return fail("there are no functions or methods to call", before);
        break;
      case "OpenSquareBracket":
        open(ended ? "index" : "list");
        break;
      case "OpenCurlyBracket":
        if (ended) return fail(betweenOperands(text, token));
        open("object");
        break;
      case "CloseParen":
      case "CloseSquareBracket":
      case "CloseCurlyBracket":
        if (frame.opening?.value !== closers.get(token.value)) {
          return fail(`${token.value} closes nothing`);
        }
        frames.pop();
        ended = true;
        break;
      case "NumericLiteral":
      case "StringLiteral":
        if (ended) return fail(betweenOperands(text, token));
        ended = true;
        break;
      case "Identifier": {
        const isName = token.value.includes("@");
        if (isName && ended) return fail(betweenOperands(text, token));
        ended = isName;
        break;
      }
      case "Comma":
        if (frame.kind === "top" || frame.kind === "group") {
          return fail("a list is written with square brackets: [a, b]");
        }
        ended = false;
        break;
      case "Colon":
        if (frame.kind === "index") return fail("slices such as a[1:2] are not available");
        ended = false;
        break;
      default:
        ended = false;
    }

    if (frames.length > maxExpressionDepth + 1) return fail(tooDeep);
    prefixes =
      token.value === "not" || token.value === "-" || token.value === "+" ? prefixes + 1 : 0;
    if (token.value === "else" && token.type === "Identifier") elses += 1;
    if (prefixes > maxExpressionDepth || elses > maxExpressionDepth) return fail(tooDeep);

    const isComparison =
      token.type === "ComparisonBinaryOperator" ||
      (token.type === "Identifier" && token.value === "in");
    if (isComparison && frame.compared) {
      return fail("comparisons cannot be chained; join them with and, or use parentheses");
    }
    if (isComparison) frame.compared = true;
    else if (token.type !== "StringLiteral" && endsComparison.has(token.value)) {
      frame.compared = false;
    }
  }

  const unclosed = frames.at(-1)?.opening;
  if (unclosed !== undefined) {
    return { message: `${unclosed.value} is never closed`, offset: unclosed.offset };
  }
  return undefined;
}

export const tooDeep = `the expression is nested deeper than ${maxExpressionDepth} levels`;

function betweenOperands(text: string, token: Token): string {
  return `an operator or a comma is missing before ${text.slice(token.offset, token.end)}`;
}

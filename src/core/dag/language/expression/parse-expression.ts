import { createCompiler } from "./compile-tree.ts";
import { checkTokens } from "./grammar.ts";
import type { Evaluate } from "./scope.ts";
import type { ExpressionProblem } from "./tokens.ts";
import { readTokens } from "./tokens.ts";
import type { ExpressionReference } from "./tree.ts";
import { parseTree } from "./tree.ts";

export type ParsedExpression =
  | {
      readonly ok: true;
      readonly evaluate: Evaluate;
      readonly references: readonly ExpressionReference[];
      /** The offset after the closing braces. */
      readonly end: number;
    }
  | {
      readonly ok: false;
      readonly problems: readonly ExpressionProblem[];
      /** What could be read before or beside the problems. */
      readonly references?: readonly ExpressionReference[];
      /** Absent if the end could not be found. */
      readonly end?: number;
    };

/** Parses from `start` to the closing `}}`, or to `end` where one is given. */
export function parseExpression(text: string, start: number, end?: number): ParsedExpression {
  const words = readTokens(text, start, end);
  if (!words.ok) return { ok: false, problems: [words.problem] };
  const last = end ?? words.end - 2;
  const first = words.tokens[0];
  if (first === undefined) {
    const problem = { message: "the braces hold no expression", offset: Math.max(0, start - 2) };
    return { ok: false, problems: [problem], end: words.end };
  }
  const misplaced = checkTokens(words.tokens, text);
  if (misplaced !== undefined) return { ok: false, problems: [misplaced], end: words.end };
  const parsed = parseTree(words.tokens, text, last);
  if (!parsed.ok) return { ok: false, problems: [parsed.problem], end: words.end };

  const compiler = createCompiler(first.offset);
  const evaluate = compiler.compile(parsed.tree, 1, false);
  const { problems } = compiler;
  const references = compiler.references.sort((a, b) => a.offset - b.offset);
  if (problems.length > 0) return { ok: false, problems, references, end: words.end };
  return { ok: true, evaluate, references, end: words.end };
}

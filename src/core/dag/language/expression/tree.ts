import { parse } from "@huggingface/jinja";
import type { Evaluate } from "./scope.ts";
import type { ExpressionProblem, Token } from "./tokens.ts";

/**
 * The parser's syntax tree, as far as this language uses it; the package does not export its
 * classes.
 */
export type Tree =
  | { readonly type: "Identifier"; readonly value: string }
  | { readonly type: "IntegerLiteral" | "FloatLiteral"; readonly value: number }
  | { readonly type: "StringLiteral"; readonly value: string }
  | { readonly type: "ArrayLiteral"; readonly value: readonly Tree[] }
  | { readonly type: "ObjectLiteral"; readonly value: ReadonlyMap<Tree, Tree> }
  | MemberTree
  | {
      readonly type: "BinaryExpression";
      readonly operator: { readonly value: string };
      readonly left: Tree;
      readonly right: Tree;
    }
  | {
      readonly type: "UnaryExpression";
      readonly operator: { readonly value: string };
      readonly argument: Tree;
    }
  | FilterTree
  | { readonly type: "CallExpression"; readonly callee: Tree; readonly args: readonly Tree[] }
  | { readonly type: "KeywordArgumentExpression"; readonly key: Tree; readonly value: Tree }
  | {
      readonly type: "TestExpression";
      readonly operand: Tree;
      readonly negate: boolean;
      readonly test: { readonly value: string };
    }
  | {
      readonly type: "Ternary";
      readonly condition: Tree;
      readonly trueExpr: Tree;
      readonly falseExpr: Tree;
    }
  | { readonly type: "SelectExpression" | "SpreadExpression" | "KeywordSpreadExpression" };

export interface MemberTree {
  readonly type: "MemberExpression";
  readonly object: Tree;
  readonly property: Tree;
  readonly computed: boolean;
}

export interface FilterTree {
  readonly type: "FilterExpression";
  readonly operand: Tree;
  readonly filter: Tree;
}

/** A value of the context that an expression names, such as `nodes.a.output.size`. */
export interface ExpressionReference {
  /** `inputs`, `nodes`, `item`, `index`, `job`, `env`, or a name that the linter reports. */
  readonly root: string;
  /** Literal members after the root, up to the first computed one. */
  readonly path: readonly (string | number)[];
  /** Characters into the string where the reference starts. */
  readonly offset: number;
  /** True under `default(…)` or `is defined`, where the value may be missing. */
  readonly optional: boolean;
}

/** Collects the references and problems of one expression while it is compiled. */
export interface Compiler {
  readonly references: ExpressionReference[];
  readonly problems: ExpressionProblem[];
  /** The start of the expression: the place of problems that have no place of their own. */
  readonly offset: number;
  compile(tree: Tree, depth: number, optional: boolean): Evaluate;
}

/** Splits `name@offset`. A keyword in the place of a name carries no offset. */
export function splitName(value: string, fallback: number): { name: string; offset: number } {
  const at = value.indexOf("@");
  if (at === -1) return { name: value, offset: fallback };
  return { name: value.slice(0, at), offset: Number(value.slice(at + 1)) };
}

// The package's declarations import each other without file endings, which only a bundler resolves.
const parseTokens = parse as unknown as (tokens: readonly Token[]) => {
  readonly body: readonly Tree[];
};

export type ParsedTree =
  | { readonly ok: true; readonly tree: Tree }
  | { readonly ok: false; readonly problem: ExpressionProblem };

export function parseTree(tokens: readonly Token[], text: string, end: number): ParsedTree {
  const whole: Token[] = [
    { type: "OpenExpression", value: "{{", offset: end, end },
    ...tokens,
    { type: "CloseExpression", value: "}}", offset: end, end },
  ];
  const tree = tryParse(whole);
  if (tree !== undefined) return { ok: true, tree };

  // The parser's error does not say where it stopped. It never reads beyond the token that it
  // cannot use, so the last token that it asks for is the place. The second parse happens only for
  // an error, because watching the reads makes parsing several times slower.
  let furthest = 0;
  const watched = new Proxy(whole, {
    get(target, key, receiver): unknown {
      if (typeof key === "string" && /^\d+$/.test(key)) furthest = Math.max(furthest, Number(key));
      return Reflect.get(target, key, receiver);
    },
  });
  tryParse(watched);
  const token = whole[furthest];
  if (token === undefined || token.type === "CloseExpression") {
    return { ok: false, problem: { message: "the expression ends too early", offset: end } };
  }
  const found = text.slice(token.offset, token.end);
  return { ok: false, problem: { message: `unexpected ${found}`, offset: token.offset } };
}

function tryParse(tokens: readonly Token[]): Tree | undefined {
  try {
    const { body } = parseTokens(tokens);
    return body.length === 1 ? body[0] : undefined;
  } catch {
    // The parser's messages name its own token types; the place tells the author more.
    return undefined;
  }
}

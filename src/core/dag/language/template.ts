import type { Json } from "../../model/json.ts";
import type { TemplateContext, TemplateLimits } from "./expression/scope.ts";
import { Scope, defaultLimits, explain } from "./expression/scope.ts";
import type { ExpressionReference } from "./expression/tree.ts";
import type { TreePath } from "../finding.ts";
import type { Build } from "./template-tree.ts";
import { compileValue } from "./template-tree.ts";

export interface Template {
  readonly source: Json;
  readonly references: readonly Reference[];
  /** The compiled template; only `render` calls it. */
  readonly build: Build;
}

export interface Reference extends ExpressionReference {
  /** Where inside the value tree the string stands. */
  readonly at: TreePath;
}

export interface TemplateProblem {
  readonly message: string;
  readonly at: TreePath;
  readonly offset: number;
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | {
      readonly ok: false;
      readonly problems: readonly TemplateProblem[];
      /** The references beside the problems, so that one mistake does not hide another. */
      readonly references: readonly Reference[];
    };

export type Rendered =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly message: string;
      /** The place in the tree whose expression failed. */
      readonly at: TreePath;
    };

export function parseTemplate(value: Json): ParsedTemplate {
  const references: Reference[] = [];
  const problems: TemplateProblem[] = [];
  const build = compileValue(value, [], { references, problems });
  if (problems.length > 0) return { ok: false, problems, references };
  return { ok: true, template: { source: value, references, build } };
}

export type TemplateParser = (value: Json) => ParsedTemplate;

/**
 * Returns a parser that parses each value once. The linter and the compiler parse the same values,
 * and parsing is most of the cost of compiling a large workflow. Strings are equal by content,
 * trees by identity.
 */
export function parseOnce(): TemplateParser {
  const known = new Map<Json, ParsedTemplate>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const parsed = parseTemplate(value);
    known.set(value, parsed);
    return parsed;
  };
}

/**
 * Renders a template. Values are inserted once and not parsed again: a value that looks like a
 * template stays a value.
 */
export function render(
  template: Template,
  context: TemplateContext,
  limits?: Partial<TemplateLimits>,
): Rendered {
  const scope = new Scope(
    context,
    limits === undefined ? defaultLimits : { ...defaultLimits, ...limits },
  );
  try {
    return { ok: true, value: template.build(scope) };
  } catch (error) {
    return { ok: false, message: explain(error), at: scope.at };
  }
}

/** Names the parameter or output of a failure: `parameter "tiles": …`. */
export function explainAt(what: string, { message, at }: Rendered & { ok: false }): string {
  return at.length === 0 ? message : `${what} "${at.join(".")}": ${message}`;
}

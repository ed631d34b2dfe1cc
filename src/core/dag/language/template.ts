import type { Json, JsonObject } from "../../model/json.ts";
import { Scope, defaultLimits, explain } from "./expression-scope.ts";
import type { TreePath } from "../compile/finding.ts";
import type { Build } from "./template-tree.ts";
import { compileValue } from "./template-tree.ts";

export interface Template {
  readonly source: Json;
  readonly references: readonly Reference[];
  /** Compiled; for `render` alone. */
  readonly build: Build;
}

export interface Reference {
  /** `inputs`, `nodes`, `item`, `index`, `job`, `env`, or a name that the linter reports. */
  readonly root: string;
  /** Literal members after the root, up to the first computed one. */
  readonly path: readonly (string | number)[];
  /** Where inside the value tree the string stands. */
  readonly at: TreePath;
  /** Characters into that string where the reference starts. */
  readonly offset: number;
  /** Under `default(…)` or `is defined`: absence is fine. */
  readonly optional: boolean;
}

export interface TemplateProblem {
  readonly message: string;
  readonly at: TreePath;
  readonly offset: number;
}

export interface TemplateContext {
  readonly inputs: JsonObject;
  readonly job: JsonObject;
  readonly env: JsonObject;
  /** Present only inside a fan-out. */
  readonly item?: Json;
  readonly index?: number;
  /** `{ output, status }` of a node. */
  node(id: string): JsonObject | undefined;
}

export interface TemplateLimits {
  /** Evaluation steps of one render. */
  readonly steps: number;
  /** Characters of JSON that one render may produce. */
  readonly size: number;
  /** Nesting of the rendered tree. */
  readonly depth: number;
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly problems: readonly TemplateProblem[] };

export type Rendered =
  { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

export function parseTemplate(value: Json): ParsedTemplate {
  const references: Reference[] = [];
  const problems: TemplateProblem[] = [];
  const build = compileValue(value, [], { references, problems });
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, template: { source: value, references, build } };
}

/** Values go into the tree as they are, once: one that looks like a template stays a value. */
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
    return { ok: false, message: explain(error) };
  }
}

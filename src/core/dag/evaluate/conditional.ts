import type { Json, JsonObject } from "../../model/json.ts";
import { holds } from "../language/condition.ts";
import type { ConditionalNode } from "../graph.ts";
import type { TemplateContext } from "../language/expression/scope.ts";
import { render } from "../language/template.ts";

export type Choice =
  | { readonly ok: true; readonly output: JsonObject }
  | { readonly ok: false; readonly message: string };

/**
 * Chooses the first branch whose condition holds, or else the default branch. A condition that
 * cannot be evaluated is an error and never counts as false: taking a wrong branch in silence is
 * worse than failing the job.
 */
export function chooseBranch(node: ConditionalNode, context: TemplateContext): Choice {
  let field: Json | undefined;
  if (node.field !== undefined) {
    const rendered = render(node.field, context);
    if (!rendered.ok) return { ok: false, message: `condition_field: ${rendered.message}` };
    field = rendered.value;
  }
  const { branches } = node.definition;
  let fallback: number | undefined;
  for (const [index, condition] of node.conditions.entries()) {
    if (condition === undefined) {
      fallback ??= index;
      continue;
    }
    const verdict = holds(condition, context, field);
    if (!verdict.ok) {
      return {
        ok: false,
        message: `condition "${condition.source}": ${verdict.message}`,
      };
    }
    if (verdict.value) return chosen(index);
  }
  if (fallback !== undefined) return chosen(fallback);
  return {
    ok: false,
    message: "no branch matches and there is no default branch",
  };

  function chosen(index: number): Choice {
    const next = branches[index]?.next ?? [];
    const output = { branch: index, next };
    return {
      ok: true,
      output: field === undefined ? output : { ...output, value: field },
    };
  }
}

import type { JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { TemplateContext } from "../language/expression/scope.ts";
import type { Rendered, Template } from "../language/template.ts";
import { render } from "../language/template.ts";

/** Renders the parameters of a task, which one template may give as a whole. */
export function renderParams(
  template: Template,
  context: TemplateContext,
): { ok: true; value: JsonObject } | (Rendered & { ok: false }) {
  const rendered = render(template, context);
  if (!rendered.ok) return rendered;
  const { value } = rendered;
  return isJsonObject(value)
    ? { ok: true, value }
    : { ok: false, message: "the template of the parameters must give an object", at: [] };
}

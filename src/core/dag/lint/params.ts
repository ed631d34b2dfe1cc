import type { HandlerContract } from "../../handlers/contract.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Finding, TreePath } from "../compile/finding.ts";
import { lookUp, parameterVocabulary, schemaFindings } from "../compile/schema-findings.ts";

/**
 * Literal parameters against the handler's schema. What holds a template anywhere is unknown until
 * the node runs, so whatever the schema has against it is dropped; the literal parts around it are
 * checked like any other.
 */
export function lintParams(
  contract: HandlerContract,
  params: JsonObject | undefined,
  task: TreePath,
  findings: Finding[],
): void {
  const value = params ?? {};
  const result = contract.params.safeParse(value);
  if (result.success) return;
  const base = [...task, "params"];
  for (const finding of schemaFindings(
    contract.params,
    value,
    result.error.issues,
    base,
    parameterVocabulary,
  )) {
    const about = finding.path.slice(base.length);
    // A missing or unknown key is a fact about the mapping as written, whatever else is in it.
    const certain = finding.at === "key";
    if (!certain && holdsTemplate(lookUp(value, about).value)) continue;
    const path = params === undefined ? task : finding.path;
    findings.push({ ...finding, path, message: `${contract.name}: ${finding.message}` });
  }
}

export function holdsTemplate(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsTemplate);
}

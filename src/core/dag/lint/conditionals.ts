import type { NodeSource } from "../../model/workflow.ts";
import type { Finding } from "../finding.ts";
import { errorAt, warningAt } from "../finding.ts";
import type { Source } from "../source/read-source.ts";

type Conditional = Extract<NodeSource, { type: "conditional" }>;

/** Checks that a conditional has one of its two forms, and the order of its branches. */
export function lintConditionals(source: Source, findings: Finding[]): void {
  for (const [id, { parsed }] of source.nodes) {
    if (parsed?.type !== "conditional") continue;
    const wrong = wrongForm(parsed);
    if (wrong !== undefined) {
      findings.push(errorAt("CONDITIONAL_FORM", ["nodes", id], wrong, { at: "key" }));
    }
    lintBranches(id, parsed, findings);
  }
}

function wrongForm(node: Conditional): string | undefined {
  const { condition, condition_field, branches, on_true, on_false } = node;
  const binary = condition ?? on_true ?? on_false;
  const several = condition_field ?? branches;
  if (binary !== undefined && several !== undefined) {
    return "use either `condition` with `on_true` and `on_false`, or `branches`, not both";
  }
  if (branches !== undefined) return undefined;
  if (condition_field !== undefined) return "`condition_field` needs `branches`";
  if (condition === undefined) {
    return "needs `condition` with `on_true` and `on_false`, or `branches`";
  }
  if (on_true === undefined && on_false === undefined) {
    return "`condition` needs `on_true` or `on_false`";
  }
  return undefined;
}

function lintBranches(id: string, node: Conditional, findings: Finding[]): void {
  if (node.branches === undefined) return;
  const path = ["nodes", id, "branches"];
  const fallback = node.branches.findIndex((branch) => branch.default === true);
  if (fallback === -1) {
    const message = `"${id}" has no default branch: if no condition holds, the job fails`;
    findings.push(warningAt("NO_DEFAULT_BRANCH", path, message, { at: "key" }));
    return;
  }
  for (let behind = fallback + 1; behind < node.branches.length; behind++) {
    const message = "this branch is never taken: the default branch stands before it";
    findings.push(errorAt("UNREACHABLE_BRANCH", [...path, behind], message));
  }
}

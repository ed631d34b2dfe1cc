import type { InputDeclaration } from "../../model/workflow.ts";
import type { Finding } from "../finding.ts";
import { errorAt, warningAt } from "../finding.ts";
import { compilePattern, inputProblem, mayExplode } from "../check-inputs.ts";
import type { Source } from "../source/read-source.ts";

/** Checks that a declaration can be met at all, and that its default meets it. */
export function lintInputs(source: Source, findings: Finding[]): void {
  for (const [name, declaration] of source.inputs ?? []) {
    lintDeclaration(name, declaration, findings);
  }
}

const numeric: readonly string[] = ["integer", "number"];

function lintDeclaration(name: string, declaration: InputDeclaration, findings: Finding[]): void {
  const { type, minimum, maximum, pattern } = declaration;
  const before = findings.length;
  const report = (key: string, message: string): void => {
    findings.push(errorAt("WRONG_INPUT", ["inputs", name, key], message));
  };
  for (const key of ["minimum", "maximum"] as const) {
    if (declaration[key] !== undefined && !numeric.includes(type)) {
      report(key, `${key} is for numbers, and "${name}" is of type ${type}`);
    }
  }
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    report("minimum", `minimum ${minimum} is above maximum ${maximum}`);
  }
  if (pattern !== undefined) {
    if (type !== "string")
      report("pattern", `pattern is for text, and "${name}" is of type ${type}`);
    else if (compilePattern(pattern) === undefined) {
      report("pattern", "pattern is not a regular expression");
    } else if (mayExplode(pattern)) {
      report(
        "pattern",
        "pattern repeats a group that repeats or has alternatives: it can take for ever",
      );
    }
  }
  // With a broken range or pattern no value fits, and a finding for each value would only repeat
  // it.
  if (findings.length > before) return;
  for (const [index, value] of (declaration.enum ?? []).entries()) {
    const problem = inputProblem({ ...declaration, enum: undefined }, value);
    if (problem === undefined) continue;
    findings.push(errorAt("WRONG_INPUT", ["inputs", name, "enum", index], `this value ${problem}`));
  }
  if (declaration.default === undefined) return;
  const problem = inputProblem(declaration, declaration.default);
  if (problem !== undefined) report("default", `the default ${problem}`);
  if (declaration.required) {
    const message = `"${name}" is required, so its default is never used`;
    findings.push(warningAt("UNUSED_DEFAULT", ["inputs", name, "default"], message, { at: "key" }));
  }
}

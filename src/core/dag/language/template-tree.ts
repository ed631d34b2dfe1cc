import type { Json } from "../../model/json.ts";
import type { Scope } from "./expression/scope.ts";
import { defaultLimits, demand, isList } from "./expression/scope.ts";
import type { TreePath } from "../finding.ts";
import { parseText } from "./template-text.ts";
import type { Reference, TemplateProblem } from "./template.ts";

export type Build = (scope: Scope) => Json;

interface Findings {
  readonly references: Reference[];
  readonly problems: TemplateProblem[];
}

/**
 * Compiles a value to a function that builds it. Parts without expressions are returned as they are
 * and measured only once.
 */
export function compileValue(value: Json, at: TreePath, findings: Findings): Build {
  const { build, size } = compilePart(value, at, findings);
  if (build !== undefined) return build;
  return (scope) => {
    scope.takeSize(size);
    return value;
  };
}

interface Part {
  /** Absent: the part is constant. */
  readonly build?: Build;
  /**
   * Characters of a constant part, or of the constant text around the parts that are not constant.
   */
  readonly size: number;
}

function compilePart(value: Json, at: TreePath, findings: Findings): Part {
  if (typeof value === "string") return compileString(value, at, findings);
  if (typeof value !== "object" || value === null) return { size: String(value).length };
  if (at.length >= defaultLimits.depth) {
    const message = `the value is nested deeper than ${defaultLimits.depth} levels`;
    findings.problems.push({ message, at, offset: 0 });
    return { size: 0 };
  }
  if (isList(value)) {
    const parts = value.map((element, index) => compilePart(element, [...at, index], findings));
    return compileContainer(parts, (scope) =>
      parts.map(({ build }, index) =>
        build === undefined ? (value[index] as Json) : build(scope),
      ),
    );
  }
  const entries = Object.keys(value).map((key): [string, Json, Part] => {
    const element = value[key] as Json;
    const part = compilePart(element, [...at, key], findings);
    return [key, element, { ...part, size: part.size + key.length + 3 }];
  });
  const parts = entries.map(([, , part]) => part);
  return compileContainer(parts, (scope) => {
    const result: Record<string, Json> = {};
    for (const [key, element, { build }] of entries) {
      const built = build === undefined ? element : build(scope);
      if (key !== "__proto__") result[key] = built;
      // An assignment would set the prototype instead of a key.
      else Object.defineProperty(result, key, { ...plainProperty, value: built });
    }
    return result;
  });
}

const plainProperty = { configurable: true, enumerable: true, writable: true };

function compileContainer(parts: readonly Part[], build: Build): Part {
  const size = parts.reduce((sum, part) => sum + part.size + 1, 2);
  if (parts.every((part) => part.build === undefined)) return { size };
  return {
    size: 0,
    build: (scope) => {
      scope.spend(parts.length);
      scope.takeSize(size);
      return build(scope);
    },
  };
}

function compileString(text: string, at: TreePath, findings: Findings): Part {
  const parsed = parseText(text);
  switch (parsed.kind) {
    case "literal":
      return { size: text.length + 2 };
    case "problems":
      for (const problem of parsed.problems) findings.problems.push({ ...problem, at });
      for (const reference of parsed.references ?? []) {
        findings.references.push({ ...reference, at });
      }
      return { size: 0 };
    case "expressions": {
      const { evaluate } = parsed;
      const depth = at.length;
      for (const reference of parsed.references) findings.references.push({ ...reference, at });
      return {
        size: 0,
        build: (scope) => {
          scope.at = at;
          const value = demand(evaluate(scope));
          scope.take(value, depth);
          return value;
        },
      };
    }
  }
}

import type { z } from "zod";
import type { Finding, FindingCode, TreePath } from "../finding.ts";
import { describe, errorAt } from "../finding.ts";
import { didYouMean } from "../suggest.ts";

type Issue = z.core.$ZodIssue;

/** Names the same four mistakes in a node and in a handler's parameters. */
export interface Vocabulary {
  readonly missing: FindingCode;
  readonly wrongType: FindingCode;
  readonly wrongValue: FindingCode;
  readonly unknown: FindingCode;
}

export const sourceVocabulary: Vocabulary = {
  missing: "MISSING_KEY",
  wrongType: "WRONG_TYPE",
  wrongValue: "WRONG_VALUE",
  unknown: "UNKNOWN_KEY",
};

export const parameterVocabulary: Vocabulary = {
  missing: "MISSING_PARAMETER",
  wrongType: "WRONG_PARAMETER",
  wrongValue: "WRONG_PARAMETER",
  unknown: "UNKNOWN_PARAMETER",
};

/** Turns the issues of a schema into findings, in our own words and at the exact place. */
export function schemaFindings(
  schema: z.ZodType,
  value: unknown,
  issues: readonly Issue[],
  base: TreePath,
  words: Vocabulary = sourceVocabulary,
  /** Keys at the top of the value that another schema reads. */
  more: readonly string[] = [],
): Finding[] {
  return issues.flatMap((issue) => explain(issue, []));

  function explain(issue: Issue, prefix: TreePath): Finding[] {
    const inner = [...prefix, ...(issue.path as (string | number)[])];
    const path = [...base, ...inner];
    const found = lookUp(value, inner);
    switch (issue.code) {
      case "invalid_union": {
        const closest = closestOption(issue.errors);
        if (closest !== undefined) return closest.flatMap((each) => explain(each, inner));
        const types = new Set(issue.errors.flat().flatMap(expectedTypes));
        if (found.missing) return [missing(inner)];
        const expected = [...types].join(" or ") || "another value";
        return [
          errorAt(words.wrongType, path, `expected ${expected}, got ${describe(found.value)}`),
        ];
      }
      case "invalid_type":
        if (found.missing) return [missing(inner)];
        return [
          errorAt(
            words.wrongType,
            path,
            `expected ${inEnglish(issue.expected)}, got ${describe(found.value)}` +
              quotesHint(issue.expected, found.value),
          ),
        ];
      case "unrecognized_keys": {
        const known = [...keysAt(schema, inner), ...(inner.length === 0 ? more : [])];
        return issue.keys.map((key) =>
          errorAt(
            words.unknown,
            [...path, key],
            `"${key}" is not known here${didYouMean(key, known) || listing(known)}`,
            { at: "key" },
          ),
        );
      }
      case "invalid_value": {
        if (found.missing) return [missing(inner)];
        const allowed = issue.values.map(String);
        const hint = typeof found.value === "string" ? didYouMean(found.value, allowed) : "";
        return [errorAt(words.wrongValue, path, `must be ${allowed.join(", ")}${hint}`)];
      }
      case "invalid_key":
        return issue.issues.map((each) =>
          errorAt(words.wrongValue, path, `this name ${plain(each.message)}`, { at: "key" }),
        );
      default:
        if (found.missing) return [missing(inner)];
        return [
          errorAt(
            issue.code === "custom" && issue.message.startsWith("expected ")
              ? words.wrongType
              : words.wrongValue,
            path,
            plain(issue.message),
          ),
        ];
    }
  }

  function missing(inner: TreePath): Finding {
    const container = [...base, ...inner.slice(0, -1)];
    return errorAt(words.missing, container, `"${String(inner.at(-1))}" is missing`, { at: "key" });
  }
}

/**
 * Chooses the option of a union that the author probably meant: the option with the fewest issues,
 * none of which is a wrong type of the whole value. Undefined: the value fits no option's type.
 */
function closestOption(options: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const near = options.filter((issues) =>
    issues.every((issue) => issue.path.length > 0 || !isTypeMismatch(issue)),
  );
  return near.length === 0 ? undefined : near.reduce((a, b) => (b.length < a.length ? b : a));
}

function isTypeMismatch(issue: Issue): boolean {
  if (issue.code === "invalid_union") {
    return closestOption(issue.errors) === undefined;
  }
  return issue.code === "invalid_type";
}

function expectedTypes(issue: Issue): string[] {
  if (issue.code === "invalid_union") return issue.errors.flat().flatMap(expectedTypes);
  return issue.code === "invalid_type" ? [inEnglish(issue.expected)] : [];
}

export function lookUp(value: unknown, path: TreePath): { missing: boolean; value: unknown } {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
      return { missing: true, value: undefined };
    }
    current = (current as Record<string | number, unknown>)[key];
  }
  return { missing: false, value: current };
}

const english: ReadonlyMap<string, string> = new Map([
  ["object", "a mapping"],
  ["record", "a mapping"],
  ["array", "a list"],
  ["string", "text"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["null", "null"],
]);

function inEnglish(type: string): string {
  return english.get(type) ?? type;
}

/** A quoted number is text, and an unquoted one is not: the author may not see the difference. */
function quotesHint(expected: string, value: unknown): string {
  const isNumber = expected === "number" || expected === "int";
  if (isNumber && typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)) {
    return `; write it without quotes: ${value}`;
  }
  if (expected === "boolean" && (value === "true" || value === "false")) {
    return `; write it without quotes: ${value}`;
  }
  if (expected === "string" && (typeof value === "number" || typeof value === "boolean")) {
    return `; write it in quotes: "${value}"`;
  }
  return "";
}

function listing(known: readonly string[]): string {
  return known.length === 0 || known.length > 20 ? "" : `; known: ${known.join(", ")}`;
}

function plain(message: string): string {
  const text = message.replace(/^(Invalid input: |Invalid )/, "");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Lists the keys that a schema knows at a place inside its value, for suggestions. */
function keysAt(schema: z.ZodType, path: TreePath): readonly string[] {
  let schemas = unwrap(schema as unknown as z.core.$ZodTypes);
  for (const key of path) schemas = schemas.flatMap((each) => below(each, key));
  const keys = schemas.flatMap((each) =>
    each._zod.def.type === "object" ? Object.keys(each._zod.def.shape) : [],
  );
  return [...new Set(keys)];
}

function below(schema: z.core.$ZodTypes, key: string | number): z.core.$ZodTypes[] {
  const { def } = schema._zod;
  switch (def.type) {
    case "object":
      return Object.hasOwn(def.shape, key)
        ? unwrap(def.shape[String(key)] as z.core.$ZodTypes)
        : [];
    case "array":
      return unwrap(def.element as z.core.$ZodTypes);
    case "record":
      return unwrap(def.valueType as z.core.$ZodTypes);
    default:
      return [];
  }
}

/** Unwraps optional, default, pipe and union down to the schemas that define keys. */
function unwrap(schema: z.core.$ZodTypes): z.core.$ZodTypes[] {
  const { def } = schema._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
    case "catch":
    case "nonoptional":
      return unwrap(def.innerType as z.core.$ZodTypes);
    case "pipe":
      return unwrap(def.in as z.core.$ZodTypes);
    case "union":
      return def.options.flatMap((option) => unwrap(option as z.core.$ZodTypes));
    default:
      return [schema];
  }
}

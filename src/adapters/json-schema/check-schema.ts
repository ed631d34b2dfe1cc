import type { ErrorObject, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { z } from "zod";
import type { JsonObject } from "../../core/model/json.ts";

type Issue = z.core.$ZodRawIssue;

/** A value with the schema's defaults filled in, and what is wrong with it. */
export interface Checked {
  readonly value: unknown;
  readonly issues: readonly Issue[];
}

/** A schema from outside that cannot be used, with the reason. */
export class BadSchema extends Error {}

const largestSchema = 256 * 1024;

/**
 * Compiles a JSON Schema (2020-12) to a check whose issues have the form of zod's, so that findings
 * read the same for a shipped handler and for one from outside. References to other documents are
 * refused.
 */
export function compileSchema(schema: JsonObject): (value: unknown) => Checked {
  if (JSON.stringify(schema).length > largestSchema) {
    throw new BadSchema(`the schema is larger than ${largestSchema / 1024} kB`);
  }
  const validate = compile(schema);
  return (given) => {
    const value: unknown = structuredClone(given);
    if (validate(value)) return { value, issues: [] };
    return { value, issues: toIssues(validate.errors ?? [], value) };
  };
}

/** Shared, since each instance compiles the schema of schemas; it keeps none that it is given. */
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  useDefaults: true,
  logger: false,
  // The id of one contract must not resolve in another.
  addUsedSchema: false,
});
addFormats.default(ajv);

function compile(schema: JsonObject): ValidateFunction {
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"));
  try {
    const validate = ajv.compile(rest);
    ajv.removeSchema(rest);
    return validate;
  } catch (error) {
    throw new BadSchema(error instanceof Error ? error.message : String(error));
  }
}

function toIssues(errors: readonly ErrorObject[], value: unknown): Issue[] {
  const issues = errors.flatMap((error): Issue[] => {
    const path = error.instancePath
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const params = error.params as Record<string, unknown>;
    switch (error.keyword) {
      case "required":
        return [custom([...path, String(params["missingProperty"])], "is missing")];
      case "additionalProperties":
      case "unevaluatedProperties": {
        const key = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
        return [{ code: "unrecognized_keys", keys: [key], path, input: {}, message: "" }];
      }
      case "type": {
        const expected = [params["type"]].flat().map(String);
        if (expected.length > 1) return [custom(path, `must be ${expected.join(" or ")}`)];
        const [type = ""] = expected;
        const name = type === "integer" ? "int" : type;
        return [
          {
            code: "invalid_type",
            expected: name as "string",
            path,
            input: value,
            message: `expected ${type}`,
          },
        ];
      }
      case "enum":
        return [
          {
            code: "invalid_value",
            values: (params["allowedValues"] as string[]).map(String),
            path,
            input: value,
            message: `must be one of ${(params["allowedValues"] as unknown[]).join(", ")}`,
          },
        ];
      // It only repeats what the branch below it says.
      case "if":
        return [];
      default:
        return [custom(path, error.message ?? "does not fit")];
    }
  });
  return issues;
}

function custom(path: readonly string[], message: string): Issue {
  return { code: "custom", path: [...path], message, input: undefined };
}

import type { z } from "zod";
import type { TreePath } from "./finding.ts";

/** The keys that a schema knows at a place inside its value, for a suggestion. */
export function keysAt(schema: z.ZodType, path: TreePath): readonly string[] {
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

/** Through optional, default, pipe and union to the schemas that say something about keys. */
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

import type { Json, JsonObject } from "./json.ts";
import { isJsonObject } from "./json.ts";

/**
 * Takes the place of a value that is kept in storage. The hash is of the stored bytes: a reader
 * checks it, so a reference that a user writes into data leads to nothing that the user does not
 * know already.
 */
export interface ValueReference extends JsonObject {
  readonly $ref: string;
  readonly bytes: number;
  readonly sha256: string;
}

export function isReference(value: Json | undefined): value is ValueReference {
  if (!isJsonObject(value)) return false;
  const { $ref, bytes, sha256 } = value;
  return (
    typeof $ref === "string" &&
    $ref.startsWith("results/") &&
    typeof bytes === "number" &&
    typeof sha256 === "string" &&
    Object.keys(value).length === 3
  );
}

/** Lists the references in a tree, each with its JSON pointer. */
export function findReferences(
  value: Json,
  pointer = "",
  found: { readonly pointer: string; readonly reference: ValueReference }[] = [],
): readonly { readonly pointer: string; readonly reference: ValueReference }[] {
  if (typeof value !== "object" || value === null) return found;
  if (isReference(value)) found.push({ pointer, reference: value });
  else {
    for (const [key, child] of Object.entries(value)) {
      const part = key.replaceAll("~", "~0").replaceAll("/", "~1");
      findReferences(child, `${pointer}/${part}`, found);
    }
  }
  return found;
}

/** Answers the tree with each reference replaced; the tree itself where it has none. */
export function replaceReferences(
  value: Json,
  replace: (reference: ValueReference, pointer: string) => Json,
): Json {
  const found = new Map(findReferences(value).map((each) => [each.pointer, each.reference]));
  return found.size === 0 ? value : rebuild(value, "", found, replace);
}

function rebuild(
  value: Json,
  pointer: string,
  found: ReadonlyMap<string, ValueReference>,
  replace: (reference: ValueReference, pointer: string) => Json,
): Json {
  const reference = found.get(pointer);
  if (reference !== undefined) return replace(reference, pointer);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, child]): [string, Json] => {
    const part = key.replaceAll("~", "~0").replaceAll("/", "~1");
    return [key, rebuild(child, `${pointer}/${part}`, found, replace)];
  });
  return Array.isArray(value) ? entries.map(([, child]) => child) : Object.fromEntries(entries);
}

import { createHash } from "node:crypto";
import type { Json } from "../../core/model/json.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";

/**
 * The hash by which a definition is stored: equal definitions have equal hashes, in whatever order
 * their keys were written.
 */
export function hashDefinition(definition: WorkflowDefinition): string {
  const text = JSON.stringify(sorted(definition as unknown as Json));
  return createHash("sha256").update(text).digest("hex");
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  const entries = Object.entries(value as Record<string, Json>);
  // Sorts by code unit, which is the same in every locale.
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

import { LRUCache } from "lru-cache";
import type { StoredWorkflow } from "../../adapters/postgres/queries/workflows.ts";
import { readWorkflow } from "../../adapters/workflow-files/read-workflow.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { InputDeclaration } from "../../core/model/workflow.ts";

type Inputs = Record<string, InputDeclaration>;

/** The names of the inputs in the order of their file, by the hash of the workflow. */
const orders = new LRUCache<string, readonly string[]>({ max: 1000 });

/**
 * Returns the inputs in the order of the file. The stored definition cannot tell: jsonb orders the
 * keys of an object by their length.
 */
export function orderInputs({
  workflow_hash,
  source,
  definition,
}: Pick<StoredWorkflow, "workflow_hash" | "source" | "definition">): Inputs {
  const inputs: Inputs = { ...definition.inputs };
  let order = orders.get(workflow_hash);
  if (order === undefined) {
    order = source === null ? [] : namesIn(source);
    orders.set(workflow_hash, order);
  }
  const place = new Map(order.map((name, at) => [name, at]));
  const last = order.length;
  return Object.fromEntries(
    Object.entries(inputs).sort(([a], [b]) => (place.get(a) ?? last) - (place.get(b) ?? last)),
  );
}

function namesIn(source: string): string[] {
  const { tree } = readWorkflow(source);
  const inputs = isJsonObject(tree) ? tree["inputs"] : undefined;
  return isJsonObject(inputs) ? Object.keys(inputs) : [];
}

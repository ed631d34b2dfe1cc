import type { WorkflowDefinition } from "../model/workflow.ts";
import { taskOf } from "../model/workflow.ts";

/**
 * Handlers that work on the whole catalogue or on the external zone, whoever the data belong to: a
 * platform that could start them would change what is another's. The orchestrator and operators
 * run these workflows; the view `gateway.workflows` knows the same rule.
 */
const maintenance = /^(?:export|stac)\./;

export function isForPlatforms({ nodes }: Pick<WorkflowDefinition, "nodes">): boolean {
  return !handlersOf({ nodes }).some((handler) => maintenance.test(handler));
}

export function handlersOf({ nodes }: Pick<WorkflowDefinition, "nodes">): string[] {
  return Object.values(nodes).flatMap((node) => taskOf(node)?.handler ?? []);
}

import type { EngineDeps } from "../engine/deps.ts";
import type { WorkflowRegistry } from "../workflows/registry.ts";

/** What creating and changing jobs uses: the engine's parts, and the workflows to submit. */
export interface JobDeps extends EngineDeps {
  /** The newest version of each workflow; new jobs use it. */
  readonly workflows: WorkflowRegistry;
}

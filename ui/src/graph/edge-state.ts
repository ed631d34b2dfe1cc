import type { NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";

/** planned: not decided yet. taken: the job went along it. untaken: it never will. */
export type EdgeLook = "planned" | "taken" | "untaken";

export function edgeLook(
  edge: WorkflowGraph["edges"][number],
  from: NodeSummary | undefined,
): EdgeLook {
  if (from?.status === "skipped") return "untaken";
  if (from?.status !== "completed") return "planned";
  if (edge.branches === null || from.branch === null) return "taken";
  return edge.branches.includes(from.branch) ? "taken" : "untaken";
}

import type {
  LoadedFile,
  LoadedWorkflow,
  LocatedFinding,
} from "../../adapters/workflow-files/load-workflow-files.ts";
import { duplicate } from "../../adapters/workflow-files/load-workflow-files.ts";

export interface Chosen {
  /** The workflows that jobs can be submitted to, by id. */
  readonly inForce: ReadonlyMap<string, LoadedWorkflow>;
  /** Files that define a workflow which another file defines already. */
  readonly duplicates: readonly LocatedFinding[];
  /** Ids of broken files that have no good version in this process. */
  readonly missing: readonly string[];
}

/**
 * Decides which file gives each workflow. The file that gave it before keeps it, so that a new file
 * with the same id does not replace it. A file with errors keeps the last good version of its
 * workflow in force; a workflow whose file is gone is gone.
 */
export function chooseWorkflows(
  before: ReadonlyMap<string, LoadedWorkflow>,
  files: readonly LoadedFile[],
): Chosen {
  const inForce = new Map<string, LoadedWorkflow>();
  const duplicates: LocatedFinding[] = [];
  const missing: string[] = [];
  const candidates = new Map<string, LoadedFile[]>();
  for (const loaded of files) {
    if (loaded.workflow === undefined) continue;
    const { workflowId } = loaded;
    candidates.set(workflowId, [...(candidates.get(workflowId) ?? []), loaded]);
  }
  for (const [id, all] of candidates) {
    const chosen = all.find(({ file }) => file === before.get(id)?.file) ?? all[0];
    if (chosen?.workflow === undefined) continue;
    inForce.set(id, chosen.workflow);
    for (const other of all) {
      // An exact copy changes nothing, so it is not worth a message.
      if (other === chosen || other.workflow?.hash === chosen.workflow.hash) continue;
      duplicates.push(duplicate(other, chosen.file));
    }
  }
  const lastGood = new Map([...before].map(([id, workflow]) => [workflow.file, id]));
  for (const { file, workflow, workflowId } of files) {
    if (workflow !== undefined) continue;
    const id = lastGood.get(file) ?? workflowId;
    if (inForce.has(id)) continue;
    const kept = before.get(id);
    if (kept === undefined) missing.push(id);
    else inForce.set(id, kept);
  }
  return { inForce, duplicates, missing };
}

import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { storeWorkflow } from "../../adapters/postgres/repositories/workflows.ts";
import type {
  LoadedWorkflow,
  LoadOptions,
  LocatedFinding,
} from "../../adapters/workflow-files/load-workflow-files.ts";
import { loadWorkflowFiles } from "../../adapters/workflow-files/load-workflow-files.ts";
import type { Graph } from "../../core/dag/compile/graph.ts";
import { Problem } from "../../core/errors.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";

export interface CurrentWorkflow {
  readonly hash: string;
  readonly definition: WorkflowDefinition;
  readonly graph: Graph;
}

export interface WorkflowRegistry {
  /** The workflow of the file as it is now, for a new submission. */
  current(workflowId: string): Promise<CurrentWorkflow>;
  /** Reads all files again and answers the findings in them. */
  reload(): Promise<readonly LocatedFinding[]>;
}

interface Entry {
  readonly workflow: LoadedWorkflow;
  /** Size and time of the file when it was read. */
  readonly mark: string;
}

/**
 * Loads workflow files, and stores every version of them in the database for ever. Each submission
 * checks by `stat` whether its file has changed, so no watcher is needed; a running job uses the
 * stored version. The check is synchronous: it costs microseconds, and a promise of it would add the
 * wake of a thread, 0.5 ms on an idle machine.
 */
export function createWorkflowRegistry(deps: {
  readonly db: Queryable;
  readonly paths: readonly string[];
  readonly options: LoadOptions;
}): WorkflowRegistry {
  const entries = new Map<string, Entry>();
  let broken: readonly LocatedFinding[] = [];

  async function reload(): Promise<readonly LocatedFinding[]> {
    const loaded = await loadWorkflowFiles(deps.paths, deps.options);
    entries.clear();
    for (const workflow of loaded.workflows) await keep(workflow);
    broken = loaded.findings.filter((finding) => finding.severity === "error");
    return loaded.findings;
  }

  async function keep(workflow: LoadedWorkflow): Promise<void> {
    const { file, hash, definition } = workflow;
    const mark = markOf(file);
    const source = await readFile(file, "utf8");
    await storeWorkflow(deps.db, { workflow_hash: hash, definition, source });
    entries.set(definition.workflow_id, { workflow, mark });
  }

  return {
    reload,

    async current(workflowId) {
      let entry = entries.get(workflowId);
      const mark = entry && markOf(entry.workflow.file);
      if (mark === undefined || mark !== entry?.mark) {
        await reload();
        entry = entries.get(workflowId);
      }
      if (entry !== undefined) return entry.workflow;
      const inFile = broken.filter(({ file }) => file.replace(/\.ya?ml$/, "").endsWith(workflowId));
      if (inFile.length === 0) {
        const known = [...entries.keys()].sort().join(", ");
        const detail = `there is no workflow "${workflowId}"; there are: ${known || "none"}`;
        throw new Problem("WORKFLOW_NOT_FOUND", detail);
      }
      throw new Problem(
        "INVALID_WORKFLOW",
        `the file of workflow "${workflowId}" has errors`,
        inFile.map(({ file, line, column, code, message }) => ({
          pointer: "/workflow_id",
          code,
          message: `${path.basename(file)}:${line}:${column} ${message}`,
        })),
      );
    },
  };
}

function markOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "gone";
  }
}

import { readFile, stat } from "node:fs/promises";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { findDefinition, storeWorkflow } from "../../adapters/postgres/repositories/workflows.ts";
import type {
  LoadedWorkflow,
  LoadOptions,
  LocatedFinding,
} from "../../adapters/workflow-files/load-workflow-files.ts";
import { loadWorkflowFiles } from "../../adapters/workflow-files/load-workflow-files.ts";
import { compileDefinition } from "../../core/dag/compile-definition.ts";
import type { Graph } from "../../core/dag/graph.ts";
import { Problem } from "../../core/errors.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";

/** Compiled graphs of versions that jobs still run; a definition is small, so many fit. */
const mostGraphs = 500;

export interface CurrentWorkflow {
  readonly hash: string;
  readonly definition: WorkflowDefinition;
  readonly graph: Graph;
}

export interface WorkflowRegistry {
  /** What a new submission uses: the file as it is now. */
  current(workflowId: string): Promise<CurrentWorkflow>;
  /** What a job uses: the version that it was submitted with. */
  graphOf(hash: string, db: Queryable): Promise<Graph>;
  /** Reads all files again; answers what is wrong in them. */
  reload(): Promise<readonly LocatedFinding[]>;
}

interface Entry {
  readonly workflow: LoadedWorkflow;
  /** Size and time of the file when it was read. */
  readonly mark: string;
}

/**
 * Workflow files, and the versions of them that are stored. A submission asks the file system
 * whether its file changed, which costs microseconds and needs no watcher; a job never does.
 */
export function createWorkflowRegistry(deps: {
  readonly db: Queryable;
  readonly paths: readonly string[];
  readonly options: LoadOptions;
}): WorkflowRegistry {
  const entries = new Map<string, Entry>();
  const graphs = new Map<string, Graph>();
  let broken: readonly LocatedFinding[] = [];

  async function reload(): Promise<readonly LocatedFinding[]> {
    const loaded = await loadWorkflowFiles(deps.paths, deps.options);
    entries.clear();
    for (const workflow of loaded.workflows) await keep(workflow);
    broken = loaded.findings.filter((finding) => finding.severity === "error");
    return loaded.findings;
  }

  async function keep(workflow: LoadedWorkflow): Promise<void> {
    const { file, hash, definition, graph } = workflow;
    const mark = await markOf(file);
    const source = await readFile(file, "utf8");
    await storeWorkflow(deps.db, { workflow_hash: hash, definition, source });
    entries.set(definition.workflow_id, { workflow, mark });
    remember(hash, graph);
  }

  function remember(hash: string, graph: Graph): void {
    graphs.delete(hash);
    graphs.set(hash, graph);
    const oldest = graphs.keys().next();
    if (graphs.size > mostGraphs && !oldest.done) graphs.delete(oldest.value);
  }

  return {
    reload,

    async current(workflowId) {
      let entry = entries.get(workflowId);
      const mark = entry && (await markOf(entry.workflow.file));
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
        inFile.map(({ line, column, code, message }) => ({
          pointer: `${line}:${column}`,
          code,
          message,
        })),
      );
    },

    async graphOf(hash, db) {
      const known = graphs.get(hash);
      if (known !== undefined) {
        remember(hash, known);
        return known;
      }
      const definition = await findDefinition(db, hash);
      if (definition === undefined) throw new Error(`workflow version ${hash} is not stored`);
      const graph = compileDefinition(definition);
      remember(hash, graph);
      return graph;
    },
  };
}

async function markOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "gone";
  }
}

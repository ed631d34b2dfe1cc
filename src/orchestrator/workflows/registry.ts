import { statSync } from "node:fs";
import path from "node:path";
import { findWorkflow } from "../../adapters/postgres/queries/workflows.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { retireWorkflow, storeWorkflow } from "../../adapters/postgres/repositories/workflows.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import type {
  LoadedFile,
  LoadedWorkflow,
  LoadOptions,
  LocatedFinding,
} from "../../adapters/workflow-files/load-workflow-files.ts";
import {
  listWorkflowFiles,
  loadWorkflowFile,
} from "../../adapters/workflow-files/load-workflow-files.ts";
import { compileDefinition } from "../../core/dag/compile/compile.ts";
import type { Graph } from "../../core/dag/graph.ts";
import { Problem } from "../../core/errors.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";
import type { Chosen } from "./choose-workflows.ts";
import { chooseWorkflows } from "./choose-workflows.ts";
import { logChanges } from "./log-changes.ts";

export interface CurrentWorkflow {
  readonly hash: string;
  readonly definition: WorkflowDefinition;
  readonly graph: Graph;
}

export interface WorkflowRegistry {
  /** The last good version of a workflow, for a new submission. */
  current(workflowId: string): Promise<CurrentWorkflow>;
  /** The workflow of a job of stages, by the type that its declaration names. */
  ofJobType(jobType: string): Promise<CurrentWorkflow>;
  /** As `current`, but refuses a workflow whose file has errors now. */
  newest(workflowId: string): Promise<CurrentWorkflow>;
  /** Reads the files that changed, if any did. */
  refresh(): Promise<void>;
  /** Reads all files again and answers the findings in them. */
  reload(): Promise<readonly LocatedFinding[]>;
}

interface Entry extends LoadedFile {
  /** Size and time of the file when it was read. */
  readonly mark: string;
}

/**
 * Loads workflow files, and stores every version of them in the database for ever; a running job uses
 * the stored version. `refresh` reads only files whose size or time changed, and calls that come
 * together share one pass over the folders. Each submission checks its own file by `stat`, so that an
 * edited file counts at once. That check is synchronous: it costs microseconds, and a promise of it
 * would add the wake of a thread, 0.5 ms on an idle machine.
 */
export function createWorkflowRegistry(deps: {
  readonly db: Queryable;
  readonly paths: readonly string[];
  readonly options: LoadOptions;
  /** Reads which handlers workers offer now. */
  readonly readHandlers?: () => Promise<unknown>;
  /** False while no worker has registered; undefined: handlers do not come from workers. */
  readonly hasWorkers?: () => boolean;
  readonly log: Logger;
}): WorkflowRegistry {
  let entries: ReadonlyMap<string, Entry> = new Map();
  let inForce: ReadonlyMap<string, LoadedWorkflow> = new Map();
  let findings: readonly LocatedFinding[] = [];
  let logged: readonly LocatedFinding[] = [];
  let isStale = false;
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;

  async function pass(): Promise<void> {
    const readAll = isStale;
    isStale = false;
    const listed = await listWorkflowFiles(deps.paths);
    const read = new Map<string, Entry>();
    for (const file of listed.files) {
      // Taken before the file is read: a change while it is read shows in the next pass.
      const mark = markOf(file);
      const known = entries.get(file);
      const isSame = !readAll && known?.mark === mark && mark !== gone;
      const entry = isSame ? known : { ...(await loadWorkflowFile(file, deps.options)), mark };
      read.set(file, entry);
    }
    const files = [...read.values()];
    const chosen = await withStored(chooseWorkflows(inForce, files));
    await store(chosen.inForce, read);
    const found = [
      ...listed.findings,
      ...files.flatMap((entry) => entry.findings),
      ...chosen.duplicates,
    ];
    // Workers start after the orchestrator, and may offer the handlers that are unknown until then.
    const due =
      (deps.hasWorkers?.() ?? true)
        ? found
        : found.filter(({ code }) => code !== "UNKNOWN_HANDLER");
    const before = { inForce, findings: logged };
    logChanges(deps.log, before, { inForce: chosen.inForce, findings: due });
    logged = due;
    entries = read;
    inForce = chosen.inForce;
    findings = found;
  }

  /** A file that was broken before this program started has its last good version in the database. */
  async function withStored(chosen: Chosen): Promise<Chosen> {
    const all = new Map(chosen.inForce);
    for (const id of chosen.missing) {
      const stored = await findWorkflow(deps.db, id);
      if (stored?.is_active !== true) continue;
      const { definition, workflow_hash: hash } = stored;
      all.set(id, { file: "", definition, hash, graph: compileDefinition(definition) });
    }
    return { ...chosen, inForce: all };
  }

  async function store(
    chosen: ReadonlyMap<string, LoadedWorkflow>,
    read: ReadonlyMap<string, Entry>,
  ): Promise<void> {
    for (const [id, { file, hash, definition }] of chosen) {
      const entry = read.get(file);
      if (inForce.get(id)?.hash === hash || entry?.workflow?.hash !== hash) continue;
      await storeWorkflow(deps.db, { workflow_hash: hash, definition, source: entry.source });
    }
    for (const id of inForce.keys()) if (!chosen.has(id)) await retireWorkflow(deps.db, id);
  }

  /** A pass that already runs may have missed the change, so the next one is awaited. */
  function refresh(): Promise<void> {
    if (running === undefined) {
      running = pass().finally(() => {
        running = undefined;
      });
      return running;
    }
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return refresh();
      });
    return queued;
  }

  async function current(workflowId: string): Promise<CurrentWorkflow> {
    const file = inForce.get(workflowId)?.file ?? "";
    const isCurrent = entries.get(file)?.mark === markOf(file);
    if (!isCurrent) await refresh();
    if (!inForce.has(workflowId) && findBroken(workflowId) !== undefined) {
      // A worker that started a moment ago may offer what the file names.
      await deps.readHandlers?.();
      isStale = true;
      await refresh();
    }
    const found = inForce.get(workflowId);
    if (found !== undefined) return found;
    refuseBroken(workflowId);
    const names = [...inForce.keys()].sort().join(", ");
    const detail = `there is no workflow "${workflowId}"; there are: ${names || "none"}`;
    throw new Problem("WORKFLOW_NOT_FOUND", detail);
  }

  function findBroken(workflowId: string): Entry | undefined {
    const file = inForce.get(workflowId)?.file;
    return [...entries.values()].find(
      (entry) =>
        entry.workflow === undefined && (entry.file === file || entry.workflowId === workflowId),
    );
  }

  function refuseBroken(workflowId: string): void {
    const broken = findBroken(workflowId);
    if (broken === undefined) return;
    throw new Problem(
      "INVALID_WORKFLOW",
      `the file of workflow "${workflowId}" has errors`,
      broken.findings
        .filter(({ severity }) => severity === "error")
        .map(({ line, column, code, message }) => ({
          pointer: "/workflow_id",
          code,
          message: `${path.basename(broken.file)}:${line}:${column} ${message}`,
        })),
    );
  }

  return {
    current,
    refresh,

    async newest(workflowId) {
      const found = await current(workflowId);
      refuseBroken(workflowId);
      return found;
    },

    async ofJobType(jobType) {
      const find = () =>
        [...inForce.values()].find(({ definition }) => definition.stages?.job_type === jobType);
      if (find() === undefined) await refresh();
      const found = find();
      if (found !== undefined) return current(found.definition.workflow_id);
      const types = [...inForce.values()].flatMap(
        ({ definition }) => definition.stages?.job_type ?? [],
      );
      const detail = `there is no job type "${jobType}"; there are: ${types.sort().join(", ") || "none"}`;
      throw new Problem("WORKFLOW_NOT_FOUND", detail);
    },

    async reload() {
      isStale = true;
      await refresh();
      return findings;
    },
  };
}

const gone = "gone";

function markOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return gone;
  }
}

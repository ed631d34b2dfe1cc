import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  findVersion,
  findWorkflow,
  listVersions,
  listWorkflows,
  readRuns,
} from "../../adapters/postgres/queries/workflows.ts";
import type { StoredWorkflow } from "../../adapters/postgres/queries/workflows.ts";
import { hashDefinition } from "../../adapters/workflow-files/hash-definition.ts";
import { readWorkflow } from "../../adapters/workflow-files/read-workflow.ts";
import { orderInputs } from "./order-inputs.ts";
import type { WorkflowRegistry } from "./registry.ts";
import type { WorkflowGraph, workflowContracts } from "../../core/api/workflows.ts";
import type { CompileOptions } from "../../core/dag/compile/compile.ts";
import { compile, compileDefinition } from "../../core/dag/compile/compile.ts";
import type { Edge, Graph } from "../../core/dag/graph.ts";
import { hideDefaults, hideInDefinition, literalSecrets } from "../../core/dag/secrets.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { Mask } from "../../core/model/mask.ts";

export interface WorkflowRouteDeps {
  readonly db: Database;
  /** The handlers, queues and variables that a workflow may name. */
  readonly compile: Omit<CompileOptions, "workflowId">;
  readonly workflows: Pick<WorkflowRegistry, "current">;
}

export function workflowRoutes(deps: WorkflowRouteDeps): Handlers<typeof workflowContracts> {
  const { db } = deps;

  /** A file that is not stored yet: it came a moment ago, or a handler that it names did. */
  async function findNew(workflowId: string): Promise<StoredWorkflow> {
    await deps.workflows.current(workflowId);
    const workflow = await findWorkflow(db, workflowId);
    if (workflow === undefined) throw missing(workflowId);
    return workflow;
  }

  return {
    listWorkflows: async () => ({
      items: (await listWorkflows(db)).map(toSummary),
      next_cursor: null,
    }),

    getWorkflow: async ({ params: { workflow_id } }) => {
      const workflow = (await findWorkflow(db, workflow_id)) ?? (await findNew(workflow_id));
      return {
        ...toSummary(workflow),
        ...show(workflow),
        graph: draw(compileDefinition(workflow.definition)),
        versions: await listVersions(db, workflow_id),
      };
    },

    getWorkflowVersion: async ({ params: { workflow_id, workflow_hash } }) => {
      const version = await findVersion(db, workflow_id, workflow_hash);
      if (version === undefined) throw missing(`${workflow_id} ${workflow_hash}`);
      const graph = draw(compileDefinition(version.definition));
      return { workflow_id, ...version, ...show(version), graph };
    },

    listWorkflowRuns: async ({ params: { workflow_id }, query: { limit } }) => {
      if ((await findWorkflow(db, workflow_id)) === undefined) throw missing(workflow_id);
      return { items: await readRuns(db, workflow_id, limit), next_cursor: null };
    },

    validateWorkflow: async ({ body: { text, workflow_id } }) => {
      const source = readWorkflow(text);
      const compiled =
        source.tree === undefined
          ? undefined
          : compile(source.tree, { ...deps.compile, workflowId: workflow_id });
      const findings = [...source.findings, ...(compiled?.findings ?? [])]
        .map((finding) => {
          const { code, severity, message } = finding;
          return { ...source.locate(finding), code, severity, message };
        })
        .sort((a, b) => a.line - b.line || a.column - b.column);
      const valid = !findings.some(({ severity }) => severity === "error");
      const definition = valid ? compiled?.definition : undefined;
      return {
        valid,
        workflow_id: definition?.workflow_id ?? null,
        workflow_hash: definition === undefined ? null : hashDefinition(definition),
        findings,
        graph: valid && compiled?.graph !== undefined ? draw(compiled.graph) : null,
      };
    },
  };
}

/** Definition and file without the secrets that stand in them. */
function show({ definition, source }: Pick<StoredWorkflow, "definition" | "source">) {
  const mask = new Mask(literalSecrets(definition));
  return {
    definition: hideInDefinition(definition) as unknown as JsonObject,
    source: source === null ? null : mask.text(source),
  };
}

function missing(name: string): Problem {
  return new Problem("WORKFLOW_NOT_FOUND", `There is no workflow "${name}".`);
}

function toSummary(workflow: StoredWorkflow) {
  const { definition, workflow_id, version, workflow_hash, is_active, updated_at } = workflow;
  return {
    workflow_id,
    version,
    workflow_hash,
    is_active,
    updated_at,
    name: definition.name,
    description: definition.description ?? null,
    node_count: Object.keys(definition.nodes).length,
    inputs: definition.inputs === undefined ? null : hideDefaults(orderInputs(workflow)),
  };
}

function draw(graph: Graph): WorkflowGraph {
  return {
    nodes: graph.nodes.map((node) => {
      const task =
        node.type === "task"
          ? node.definition
          : node.type === "fan_out"
            ? node.definition.task
            : undefined;
      return {
        node_id: node.id,
        node_type: node.type,
        name: node.definition.name ?? null,
        join: node.join,
        handler: task?.handler ?? null,
        queue: task?.queue ?? null,
      };
    }),
    edges: graph.nodes.flatMap((node) =>
      node.outgoing.map((edge) => ({
        from: edge.from.id,
        to: edge.to.id,
        label: label(edge),
        branches: edge.branches === undefined ? null : [...edge.branches],
      })),
    ),
  };
}

/** The names of the branches that lead along an edge. */
function label({ from, branches }: Edge): string | null {
  if (from.type !== "conditional" || branches === undefined) return null;
  const names = branches.map((branch) => {
    const { name, condition } = from.definition.branches[branch] ?? {};
    return name ?? condition ?? "default";
  });
  return names.join(" or ");
}

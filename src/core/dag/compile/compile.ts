import type { HandlerContract } from "../../handlers/contract.ts";
import type { WorkflowDefinition } from "../../model/workflow.ts";
import type { JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import { nodeName } from "../../model/workflow.ts";
import { isDeclaration } from "../stages/declaration.ts";
import { translateStages } from "../stages/translate-stages.ts";
import { checkTree } from "../source/check-tree.ts";
import { compileDefinition } from "./compile-definition.ts";
import type { Finding } from "../finding.ts";
import { errorAt } from "../finding.ts";
import type { Graph } from "../graph.ts";
import { link } from "../source/links.ts";
import { lintConditionals } from "../lint/conditionals.ts";
import { lintInputs } from "../lint/inputs.ts";
import { lintMissing } from "../lint/missing.ts";
import { lintReferences } from "../lint/references.ts";
import { lintStructure } from "../lint/structure.ts";
import { lintTasks } from "../lint/tasks.ts";
import { lintTemplates } from "../lint/templates.ts";
import { normalise } from "./normalise.ts";
import { parseOnce } from "../language/template.ts";
import type { Source } from "../source/read-source.ts";
import { readSource } from "../source/read-source.ts";

export { compileDefinition } from "./compile-definition.ts";

export interface CompileOptions {
  readonly handlers: ReadonlyMap<string, HandlerContract>;
  readonly queues: ReadonlySet<string>;
  /** Environment names that templates may read. */
  readonly env: ReadonlySet<string>;
  /** The id of a workflow whose source names none: the base name of its file. */
  readonly workflowId?: string | undefined;
}

export interface Compiled {
  readonly findings: readonly Finding[];
  /** Undefined, like the graph, if one of the findings is an error. */
  readonly definition: WorkflowDefinition | undefined;
  readonly graph: Graph | undefined;
}

/**
 * Compiles the tree that an author wrote to a graph. Total: every tree gets an answer, which lists
 * all that is wrong with it. Each step works on whatever the step before could read, so a broken
 * node causes findings about itself only.
 */
export function compile(tree: unknown, options: CompileOptions): Compiled {
  const findings = checkTree(tree);
  if (findings.length > 0) return { findings, definition: undefined, graph: undefined };
  return isJsonObject(tree) && isDeclaration(tree)
    ? compileStages(tree, options)
    : compileWorkflow(tree, options, findings);
}

/** A job of stages is compiled as the workflow that it is translated to. */
function compileStages(tree: JsonObject, options: CompileOptions): Compiled {
  const { workflow, stages, placeOf, findings } = translateStages(tree);
  if (workflow === undefined || stages === undefined) {
    return { findings, definition: undefined, graph: undefined };
  }
  const compiled = compileWorkflow(workflow, options, []);
  // Templates were rewritten, so a place inside of one is not a place in the author's text.
  const placed = compiled.findings.map(({ offset: _, ...finding }) => ({
    ...finding,
    path: placeOf(finding.path),
  }));
  if (compiled.definition === undefined) return { ...compiled, findings: placed };
  const definition = { ...compiled.definition, stages };
  return { findings: placed, definition, graph: compileDefinition(definition) };
}

function compileWorkflow(tree: unknown, options: CompileOptions, findings: Finding[]): Compiled {
  const source = readSource(tree, findings);
  const workflowId = nameWorkflow(source, options, findings);
  const links = link(source, findings);
  const order = lintStructure(source, links, findings);
  lintConditionals(source, findings);
  lintTasks({ ...options, source, links }, findings);
  lintInputs(source, findings);
  const parse = parseOnce();
  const references = lintTemplates(source, tree, parse, findings);
  lintReferences(references, { source, links, order, env: options.env }, findings);

  if (findings.some((finding) => finding.severity === "error")) {
    return { findings, definition: undefined, graph: undefined };
  }
  const definition = normalise(source, links, workflowId, options.handlers);
  const graph = compileDefinition(definition, parse);
  lintMissing(graph, references, findings);
  return { findings, definition, graph };
}

function nameWorkflow(source: Source, options: CompileOptions, findings: Finding[]): string {
  const written = source.head?.workflow_id;
  if (written !== undefined || source.head === undefined) return written ?? "";
  const { workflowId } = options;
  if (workflowId === undefined) {
    findings.push(errorAt("MISSING_KEY", [], '"workflow_id" is missing'));
    return "";
  }
  if (!nodeName.safeParse(workflowId).success) {
    const message = `"workflow_id" is missing, and the file's name "${workflowId}" cannot serve as one`;
    findings.push(errorAt("MISSING_KEY", [], message));
  }
  return workflowId;
}

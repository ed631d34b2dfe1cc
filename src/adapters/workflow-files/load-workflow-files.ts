import { readFile, readdir, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import type { CompileOptions } from "../../core/dag/compile/compile.ts";
import { compile } from "../../core/dag/compile/compile.ts";
import type { Finding, FindingCode } from "../../core/dag/finding.ts";
import { errorAt } from "../../core/dag/finding.ts";
import type { Graph } from "../../core/dag/compile/graph.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";
import { hasErrorCode } from "../runtime/error-code.ts";
import { hashDefinition } from "./hash-definition.ts";
import { largestFile, readWorkflow, tooLarge } from "./read-workflow.ts";

export interface LoadedWorkflow {
  readonly file: string;
  readonly definition: WorkflowDefinition;
  readonly graph: Graph;
  readonly hash: string;
}

export interface LocatedFinding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly code: FindingCode;
  readonly severity: Finding["severity"];
  readonly message: string;
}

export interface LoadedFiles {
  readonly files: readonly string[];
  /** The workflows without errors. */
  readonly workflows: readonly LoadedWorkflow[];
  readonly findings: readonly LocatedFinding[];
}

export type LoadOptions = Omit<CompileOptions, "workflowId">;

/** Reads files, and the `*.yaml` and `*.yml` in folders. A broken file does not hide the others. */
export async function loadWorkflowFiles(
  paths: readonly string[],
  options: LoadOptions,
): Promise<LoadedFiles> {
  const findings: LocatedFinding[] = [];
  const files = await listFiles(paths, findings);
  const workflows: LoadedWorkflow[] = [];
  const fileOf = new Map<string, string>();
  for (const file of files) {
    const loaded = await loadFile(file, options, findings);
    if (loaded === undefined) continue;
    const { workflow, idAt } = loaded;
    const { workflow_id } = workflow.definition;
    const other = fileOf.get(workflow_id);
    if (other === undefined) {
      fileOf.set(workflow_id, file);
      workflows.push(workflow);
      continue;
    }
    const message = `workflow "${workflow_id}" is already defined in ${other}`;
    findings.push({ file, ...idAt, code: "DUPLICATE_WORKFLOW", severity: "error", message });
  }
  return { files, workflows, findings };
}

async function listFiles(paths: readonly string[], findings: LocatedFinding[]): Promise<string[]> {
  const files = new Map<string, string>();
  for (const path of paths) {
    try {
      if (!(await stat(path)).isDirectory()) {
        files.set(resolve(path), path);
        continue;
      }
      const names = (await readdir(path)).filter((name) => /\.ya?ml$/.test(name)).sort();
      if (names.length === 0) findings.push(unreadable(path, "no *.yaml or *.yml in this folder"));
      for (const name of names) files.set(resolve(path, name), join(path, name));
    } catch (error) {
      findings.push(unreadable(path, reason(error)));
    }
  }
  return [...files.values()];
}

async function loadFile(
  file: string,
  options: LoadOptions,
  findings: LocatedFinding[],
): Promise<{ workflow: LoadedWorkflow; idAt: { line: number; column: number } } | undefined> {
  const text = await readText(file, findings);
  if (text === undefined) return undefined;
  const source = readWorkflow(text);
  const workflowId = basename(file, extname(file));
  const compiled =
    source.tree === undefined ? undefined : compile(source.tree, { ...options, workflowId });
  const located = [...source.findings, ...(compiled?.findings ?? [])].map((finding) => {
    const { code, severity, message } = finding;
    return { file, ...source.locate(finding), code, severity, message };
  });
  findings.push(...located.sort((a, b) => a.line - b.line || a.column - b.column));
  if (compiled?.graph === undefined || compiled.definition === undefined) return undefined;
  if (source.findings.some((finding) => finding.severity === "error")) return undefined;
  const { graph, definition } = compiled;
  const idAt = source.locate(errorAt("DUPLICATE_WORKFLOW", ["workflow_id"], ""));
  return { workflow: { file, definition, graph, hash: hashDefinition(definition) }, idAt };
}

async function readText(file: string, findings: LocatedFinding[]): Promise<string | undefined> {
  try {
    const { size, isFile } = await stat(file).then((it) => ({
      size: it.size,
      isFile: it.isFile(),
    }));
    if (!isFile) {
      findings.push(unreadable(file, "not a file"));
      return undefined;
    }
    // Checked before reading, so that a file of gigabytes is not loaded only to be refused.
    if (size > largestFile) {
      findings.push(at(file, "FILE_TOO_LARGE", tooLarge(size)));
      return undefined;
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    findings.push(unreadable(file, reason(error)));
    return undefined;
  }
}

function at(file: string, code: FindingCode, message: string): LocatedFinding {
  return { file, line: 1, column: 1, code, severity: "error", message };
}

function unreadable(file: string, message: string): LocatedFinding {
  return at(file, "FILE_UNREADABLE", message);
}

function reason(error: unknown): string {
  if (error instanceof TypeError) return "not UTF-8 text";
  if (hasErrorCode(error, "ENOENT")) return "no such file or folder";
  if (hasErrorCode(error, "EACCES", "EPERM")) return "permission denied";
  return error instanceof Error ? error.message : String(error);
}

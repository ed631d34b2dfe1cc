import { readFile, readdir, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import type { CompileOptions } from "../../core/dag/compile/compile.ts";
import { compile } from "../../core/dag/compile/compile.ts";
import type { Finding, FindingCode } from "../../core/dag/finding.ts";
import { errorAt } from "../../core/dag/finding.ts";
import type { Graph } from "../../core/dag/graph.ts";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { hasErrorCode } from "../runtime/error-code.ts";
import { hashDefinition } from "./hash-definition.ts";
import type { Position } from "./positions.ts";
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
  const { files, findings: unreadable } = await listWorkflowFiles(paths);
  const findings = [...unreadable];
  const workflows: LoadedWorkflow[] = [];
  const fileOf = new Map<string, string>();
  for (const file of files) {
    const loaded = await loadWorkflowFile(file, options);
    findings.push(...loaded.findings);
    if (loaded.workflow === undefined) continue;
    const other = fileOf.get(loaded.workflowId);
    if (other !== undefined) {
      findings.push(duplicate(loaded, other));
      continue;
    }
    fileOf.set(loaded.workflowId, file);
    workflows.push(loaded.workflow);
  }
  return { files, workflows, findings };
}

/** One file as it was read. */
export interface LoadedFile {
  readonly file: string;
  /** The id that the file gives itself, as far as it can be read, or else its base name. */
  readonly workflowId: string;
  /** Undefined: the findings hold an error. */
  readonly workflow: LoadedWorkflow | undefined;
  readonly source: string;
  readonly findings: readonly LocatedFinding[];
  readonly idAt: Position;
}

export function duplicate({ file, workflowId, idAt }: LoadedFile, other: string): LocatedFinding {
  const message = `workflow "${workflowId}" is already defined in ${other}`;
  return { file, ...idAt, code: "DUPLICATE_WORKFLOW", severity: "error", message };
}

/** A path that ends with `?` may be missing or empty: its files count once they are there. */
export const isOptional = (path: string) => path.endsWith("?");

export async function listWorkflowFiles(
  paths: readonly string[],
): Promise<{ files: string[]; findings: LocatedFinding[] }> {
  const files = new Map<string, string>();
  const findings: LocatedFinding[] = [];
  for (const given of paths) {
    const path = isOptional(given) ? given.slice(0, -1) : given;
    try {
      if (!(await stat(path)).isDirectory()) {
        files.set(resolve(path), path);
        continue;
      }
      const names = (await readdir(path)).filter((name) => /\.ya?ml$/.test(name)).sort();
      if (names.length === 0 && !isOptional(given)) {
        findings.push(unreadable(path, "no *.yaml or *.yml in this folder"));
      }
      for (const name of names) files.set(resolve(path, name), join(path, name));
    } catch (error) {
      if (isOptional(given) && hasErrorCode(error, "ENOENT")) continue;
      findings.push(unreadable(path, reason(error)));
    }
  }
  return { files: [...files.values()], findings };
}

export async function loadWorkflowFile(file: string, options: LoadOptions): Promise<LoadedFile> {
  const findings: LocatedFinding[] = [];
  const baseName = basename(file, extname(file));
  const text = await readText(file, findings);
  if (text === undefined) {
    const idAt = { line: 1, column: 1 };
    return { file, workflowId: baseName, workflow: undefined, source: "", findings, idAt };
  }
  const source = readWorkflow(text);
  const compiled =
    source.tree === undefined
      ? undefined
      : compile(source.tree, { ...options, workflowId: baseName });
  const located = [...source.findings, ...(compiled?.findings ?? [])].map((finding) => {
    const { code, severity, message } = finding;
    return { file, ...source.locate(finding), code, severity, message };
  });
  findings.push(...located.sort((a, b) => a.line - b.line || a.column - b.column));
  const idAt = source.locate(errorAt("DUPLICATE_WORKFLOW", ["workflow_id"], ""));
  const hasErrors = findings.some((finding) => finding.severity === "error");
  const { graph, definition } = compiled ?? {};
  const workflow =
    hasErrors || graph === undefined || definition === undefined
      ? undefined
      : { file, definition, graph, hash: hashDefinition(definition) };
  const workflowId = definition?.workflow_id ?? writtenId(source.tree) ?? baseName;
  return { file, workflowId, workflow, source: text, findings, idAt };
}

function writtenId(tree: unknown): string | undefined {
  const id = isJsonObject(tree) ? (tree["workflow_id"] ?? tree["job_type"]) : undefined;
  return typeof id === "string" ? id : undefined;
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

import type { HandlerContract } from "../../handlers/contract.ts";
import type { JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Finding, TreePath } from "../finding.ts";
import { errorAt } from "../finding.ts";
import { lookUp, parameterVocabulary, schemaFindings } from "../source/schema-findings.ts";
import type { Source } from "../source/read-source.ts";
import { taskSourceOf } from "../source/read-source.ts";
import { didYouMean } from "../suggest.ts";

interface Known {
  readonly handlers: ReadonlyMap<string, HandlerContract>;
  readonly queues: ReadonlySet<string>;
}

/** Checks handlers, queues and literal parameters of tasks, and of the tasks that fan-outs start. */
export function lintTasks(source: Source, known: Known, findings: Finding[]): void {
  for (const [id, node] of source.nodes) {
    const task = taskSourceOf(id, node);
    if (task !== undefined) lintTask(task.written, task.path, known, findings);
  }
}

/** Reads what the author wrote, so that a wrong timeout does not hide a wrong parameter. */
function lintTask(raw: unknown, path: TreePath, known: Known, findings: Finding[]): void {
  if (!isJsonObject(raw)) return;
  const { handlers, queues } = known;
  const { handler, queue } = raw;
  if (typeof queue === "string" && queue !== "" && !queues.has(queue)) {
    const hint = didYouMean(queue, queues) || `; declared: ${[...queues].join(", ")}`;
    findings.push(errorAt("UNKNOWN_QUEUE", [...path, "queue"], `no queue "${queue}"${hint}`));
  }
  if (typeof handler !== "string" || handler === "") return;
  const contract = handlers.get(handler);
  if (contract === undefined) {
    const hint = didYouMean(handler, handlers.keys());
    findings.push(
      errorAt("UNKNOWN_HANDLER", [...path, "handler"], `no handler "${handler}"${hint}`),
    );
    return;
  }
  const params = raw["params"];
  if (params === undefined || isJsonObject(params)) {
    lintParams(contract, params, path, findings);
  }
}

/**
 * Checks literal parameters against the handler's schema. The value of a template is unknown until
 * the node runs, so findings about a value that holds one are dropped; the literal parts around it
 * are checked like any other.
 */
function lintParams(
  contract: HandlerContract,
  params: JsonObject | undefined,
  task: TreePath,
  findings: Finding[],
): void {
  const value = params ?? {};
  const result = contract.params.safeParse(value);
  if (result.success) return;
  const base = [...task, "params"];
  for (const finding of schemaFindings(
    contract.params,
    value,
    result.error.issues,
    base,
    parameterVocabulary,
  )) {
    const about = finding.path.slice(base.length);
    // A missing or unknown key is certain: no template can add or remove a key.
    const certain = finding.at === "key";
    if (!certain && holdsTemplate(lookUp(value, about).value)) continue;
    const path = params === undefined ? task : finding.path;
    findings.push({ ...finding, path, message: `${contract.name}: ${finding.message}` });
  }
}

export function holdsTemplate(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsTemplate);
}

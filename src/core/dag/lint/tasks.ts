import type { HandlerContract } from "../../handlers/contract.ts";
import { nameParams } from "../../handlers/parameters.ts";
import type { JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Finding, TreePath } from "../finding.ts";
import { errorAt } from "../finding.ts";
import { readSecretParams } from "../secrets.ts";
import { lookUp, parameterVocabulary, schemaFindings } from "../source/schema-findings.ts";
import { taskSourceOf } from "../source/read-source.ts";
import { didYouMean } from "../suggest.ts";
import type { Surroundings } from "./implied-params.ts";
import { allInputs, implyParams } from "./implied-params.ts";

interface Known extends Surroundings {
  readonly queues: ReadonlySet<string>;
}

/** Checks handlers, queues and literal parameters of tasks, and of the tasks that fan-outs start. */
export function lintTasks(known: Known, findings: Finding[]): void {
  for (const [id, node] of known.source.nodes) {
    const task = taskSourceOf(id, node);
    if (task !== undefined) lintTask(id, task.written, task.path, known, findings);
  }
}

/** Reads what the author wrote, so that a wrong timeout does not hide a wrong parameter. */
function lintTask(
  id: string,
  raw: unknown,
  path: TreePath,
  known: Known,
  findings: Finding[],
): void {
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
    const hint =
      didYouMean(handler, handlers.keys()) ||
      "; handlers of your own are known once a worker offers them";
    findings.push(
      errorAt("UNKNOWN_HANDLER", [...path, "handler"], `no handler "${handler}"${hint}`),
    );
    return;
  }
  const params = raw["params"];
  if (params === undefined || isJsonObject(params)) {
    lintParams(id, contract, params, path, known, findings);
  }
}

/**
 * Checks literal parameters against the handler's schema. The value of a template is unknown until
 * the node runs, so findings about a value that holds one are dropped; the literal parts around it
 * are checked like any other.
 */
function lintParams(
  id: string,
  contract: HandlerContract,
  params: JsonObject | undefined,
  task: TreePath,
  known: Known,
  findings: Finding[],
): void {
  const named = nameParams(contract, readSecretParams(params ?? {}).params);
  const implied = implyParams(id, contract, params && named.params, known);
  if (implied === allInputs) return;
  const value = { ...implied, ...named.params };
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
    const path = params === undefined ? task : asWritten(finding.path, base, named.written);
    findings.push({ ...finding, path, message: `${contract.name}: ${finding.message}` });
  }
}

/** The path of a parameter under the name that the author gave it. */
function asWritten(path: TreePath, base: TreePath, written: ReadonlyMap<string, string>): TreePath {
  const name = path[base.length];
  const alias = typeof name === "string" ? written.get(name) : undefined;
  return alias === undefined ? path : [...base, alias, ...path.slice(base.length + 1)];
}

export function holdsTemplate(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsTemplate);
}

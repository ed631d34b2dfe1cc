import type { HandlerContract } from "../../handlers/contract.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Finding, TreePath } from "../compile/finding.ts";
import { errorAt } from "../compile/finding.ts";
import { lintParams } from "./params.ts";
import type { Source } from "../compile/read-source.ts";
import { didYouMean } from "../compile/suggest.ts";

interface Known {
  readonly handlers: ReadonlyMap<string, HandlerContract>;
  readonly queues: ReadonlySet<string>;
}

/** Handlers, queues and literal parameters of tasks and of what fan-outs start. */
export function lintTasks(source: Source, known: Known, findings: Finding[]): void {
  for (const [id, { raw, type }] of source.nodes) {
    if (!isJsonObject(raw)) continue;
    if (type === "task") lintTask(raw, ["nodes", id], known, findings);
    if (type === "fan_out") lintTask(raw["task"], ["nodes", id, "task"], known, findings);
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

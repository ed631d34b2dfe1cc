import path from "node:path";
import type { Logger } from "../../adapters/runtime/logger.ts";
import type {
  LoadedWorkflow,
  LocatedFinding,
} from "../../adapters/workflow-files/load-workflow-files.ts";

interface Known {
  readonly inForce: ReadonlyMap<string, LoadedWorkflow>;
  readonly findings: readonly LocatedFinding[];
}

/** Logs each change of the workflow files once: what is refused, warned about, loaded or gone. */
export function logChanges(log: Logger, before: Known, after: Known): void {
  const logged = new Set(before.findings.map(keyOf));
  const fresh = after.findings.filter((finding) => !logged.has(keyOf(finding)));
  for (const file of new Set(fresh.map((finding) => finding.file))) {
    const found = fresh.filter((finding) => finding.file === file);
    const errors = found.filter(({ severity }) => severity === "error");
    const first = errors[0];
    if (first !== undefined) {
      const id = path.basename(file).replace(/\.ya?ml$/, "");
      const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
      const stays = isInForce(after, file, id) ? "; its last good version stays in force" : "";
      const where = `${file}:${first.line}:${first.column}`;
      const text = `workflow ${id} was refused: ${where} ${first.message}${more}${stays}`;
      log.warn({ code: first.code, findings: errors }, text);
      continue;
    }
    for (const { line, column, code, message } of found) {
      log.warn({ code }, `${file}:${line}:${column} ${message}`);
    }
  }
  // The first pass loads all files; a line for each would bury the others.
  if (before.inForce.size === 0) return;
  for (const [id, { hash, file }] of after.inForce) {
    const old = before.inForce.get(id)?.hash;
    if (old === hash) continue;
    const how = old === undefined ? "is new" : "has changed";
    log.info({ file, workflow_hash: hash }, `workflow ${id} ${how}`);
  }
  for (const [id, { file }] of before.inForce) {
    if (!after.inForce.has(id))
      log.warn({ file }, `workflow ${id} is gone: no file defines it any more`);
  }
}

function isInForce({ inForce }: Known, file: string, id: string): boolean {
  const one = inForce.get(id);
  return one?.file === "" || [...inForce.values()].some((workflow) => workflow.file === file);
}

function keyOf({ file, line, column, code, message }: LocatedFinding): string {
  return [file, line, column, code, message].join("\n");
}

/**
 * Work in phases with a checkpoint after each. An attempt that finds phases done, by an earlier
 * attempt or by a worker that was killed, goes on behind the last one that it can still trust.
 */
import { isJsonObject } from "../core/model/json.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { HandlerContext } from "./define-handler.ts";

/** What the phases before have left behind, by name. */
export type Artifacts = ReadonlyMap<string, JsonObject>;

export interface Phase {
  readonly name: string;
  /** What it returns is in the checkpoint, so keep it small: paths rather than contents. */
  run(artifacts: Artifacts): Promise<JsonObject>;
  /** Whether what it left is still good; asked after it ran, and again when it would be skipped. */
  validate?(artifact: JsonObject): Promise<boolean>;
}

export interface PhasesResult {
  readonly artifacts: Artifacts;
  /** How many phases were found done. */
  readonly resumedFrom: number;
}

export async function runPhases(
  context: HandlerContext,
  phases: readonly Phase[],
): Promise<PhasesResult> {
  const artifacts = await findDone(context, phases);
  const resumedFrom = artifacts.size;
  for (const phase of phases.slice(resumedFrom)) {
    context.signal.throwIfAborted();
    const artifact = await phase.run(artifacts);
    if (!(await isValid(phase, artifact))) {
      throw new Error(`The phase "${phase.name}" ended, but what it left is not valid.`);
    }
    artifacts.set(phase.name, artifact);
    await context.checkpoint.save(phase.name, { done: toList(artifacts) });
    context.progress((100 * artifacts.size) / phases.length, phase.name);
  }
  return { artifacts, resumedFrom };
}

/** The phases from the start that match the checkpoint and are still valid. */
async function findDone(
  context: HandlerContext,
  phases: readonly Phase[],
): Promise<Map<string, JsonObject>> {
  const saved = await context.checkpoint.load();
  const done = Array.isArray(saved?.data["done"]) ? saved.data["done"] : [];
  const artifacts = new Map<string, JsonObject>();
  for (const [index, phase] of phases.entries()) {
    const entry: unknown = done[index];
    if (!isEntry(entry) || entry.phase !== phase.name) break;
    if (!(await isValid(phase, entry.artifact))) {
      context.logger.warn(`the phase "${phase.name}" is run again: what it left is gone`);
      break;
    }
    artifacts.set(phase.name, entry.artifact);
  }
  return artifacts;
}

function isEntry(value: unknown): value is { phase: string; artifact: JsonObject } {
  return (
    isJsonObject(value) && typeof value["phase"] === "string" && isJsonObject(value["artifact"])
  );
}

async function isValid(phase: Phase, artifact: JsonObject): Promise<boolean> {
  return phase.validate === undefined || (await phase.validate(artifact));
}

function toList(artifacts: Artifacts): JsonObject[] {
  return [...artifacts].map(([phase, artifact]) => ({ phase, artifact }));
}

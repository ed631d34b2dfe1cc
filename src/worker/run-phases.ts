/**
 * Runs a task in phases with a checkpoint after each. A later attempt, also on another worker,
 * continues after the last phase whose artifact is still valid.
 */
import { isJsonObject } from "../core/model/json.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { HandlerContext } from "./define-handler.ts";

/** The artifacts of the finished phases, by the name of the phase. */
export type Artifacts = ReadonlyMap<string, JsonObject>;

export interface Phase {
  readonly name: string;
  /** Returns the artifact, which is saved in the checkpoint: paths rather than contents. */
  run(artifacts: Artifacts): Promise<JsonObject>;
  /** Checks the artifact after the phase ran, and again before a later attempt skips the phase. */
  validate?(artifact: JsonObject): Promise<boolean>;
}

export interface PhasesResult {
  readonly artifacts: Artifacts;
  /** The number of phases that an earlier attempt had finished. */
  readonly resumedFrom: number;
}

export async function runPhases(
  context: HandlerContext,
  phases: readonly Phase[],
): Promise<PhasesResult> {
  const artifacts = await loadFinished(context, phases);
  const resumedFrom = artifacts.size;
  for (const phase of phases.slice(resumedFrom)) {
    context.signal.throwIfAborted();
    const artifact = await phase.run(artifacts);
    if (!(await isValid(phase, artifact))) {
      throw new Error(`The phase "${phase.name}" ended with an invalid artifact.`);
    }
    artifacts.set(phase.name, artifact);
    await context.checkpoint.save(phase.name, { done: toList(artifacts) });
    context.progress((100 * artifacts.size) / phases.length, phase.name);
  }
  return { artifacts, resumedFrom };
}

/** Reads the phases from the first on that match the checkpoint and are still valid. */
async function loadFinished(
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
      context.logger.warn(
        `the phase "${phase.name}" is run again: its artifact is no longer valid`,
      );
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

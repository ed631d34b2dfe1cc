import { expect, it } from "vitest";
import type { JsonObject } from "../core/model/json.ts";
import type { HandlerContext, SavedCheckpoint } from "./define-handler.ts";
import { runPhases } from "./run-phases.ts";
import type { Phase } from "./run-phases.ts";

/** The part of a task's context that phases use. */
function contextWith(saved: SavedCheckpoint | undefined, signal = new AbortController().signal) {
  const checkpoints: SavedCheckpoint[] = saved === undefined ? [] : [saved];
  const percents: number[] = [];
  const warnings: string[] = [];
  const context = {
    signal,
    logger: { warn: (message: string) => warnings.push(message) },
    progress: (percent: number) => percents.push(percent),
    checkpoint: {
      load: async () => checkpoints.at(-1),
      save: async (phase: string, data: JsonObject) => {
        checkpoints.push({ phase, data: JSON.parse(JSON.stringify(data)) as JsonObject });
      },
    },
  } as unknown as HandlerContext;
  return { context, checkpoints, percents, warnings };
}

function phases(names: string, ran: string[], validate?: Phase["validate"]): Phase[] {
  return Array.from(names, (name) => ({
    name,
    run: async () => {
      ran.push(name);
      return { by: name };
    },
    ...(validate === undefined ? {} : { validate }),
  }));
}

it("runs all phases in order and saves after each", async () => {
  const { context, checkpoints, percents } = contextWith(undefined);
  const ran: string[] = [];
  const { artifacts, resumedFrom } = await runPhases(context, phases("abcd", ran));
  expect(ran).toEqual(["a", "b", "c", "d"]);
  expect(checkpoints.map(({ phase }) => phase)).toEqual(["a", "b", "c", "d"]);
  expect(percents).toEqual([25, 50, 75, 100]);
  expect(artifacts.get("c")).toEqual({ by: "c" });
  expect(resumedFrom).toBe(0);
});

it("continues after the last saved phase, with the artifacts of the others", async () => {
  const first = contextWith(undefined);
  await runPhases(first.context, phases("ab", []));
  const second = contextWith(first.checkpoints.at(-1));
  const ran: string[] = [];
  const { artifacts, resumedFrom } = await runPhases(second.context, phases("abc", ran));
  expect(ran).toEqual(["c"]);
  expect(resumedFrom).toBe(2);
  expect([...artifacts.keys()]).toEqual(["a", "b", "c"]);
});

it("runs a phase again whose artifact is gone, and the phases after it", async () => {
  const first = contextWith(undefined);
  await runPhases(first.context, phases("abc", []));
  const second = contextWith(first.checkpoints.at(-1));
  const ran: string[] = [];
  const isGood = async (artifact: JsonObject) => artifact["by"] !== "b" || ran.includes("b");
  await runPhases(second.context, phases("abc", ran, isGood));
  expect(ran).toEqual(["b", "c"]);
  expect(second.warnings).toHaveLength(1);
});

it("ignores a checkpoint that is not of these phases", async () => {
  for (const data of [
    {},
    { done: 1 },
    { done: [null] },
    { done: [{ phase: "x", artifact: {} }] },
  ]) {
    const ran: string[] = [];
    await runPhases(contextWith({ phase: "x", data }).context, phases("ab", ran));
    expect(ran).toEqual(["a", "b"]);
  }
});

it("stops between phases when it is aborted, and fails for an invalid artifact", async () => {
  const stopped = contextWith(undefined, AbortSignal.abort(new Error("stop")));
  await expect(runPhases(stopped.context, phases("a", []))).rejects.toThrow("stop");
  const { context, checkpoints } = contextWith(undefined);
  const bad = phases("a", [], async () => false);
  await expect(runPhases(context, bad)).rejects.toThrow(/"a" ended with an invalid artifact/);
  expect(checkpoints).toEqual([]);
});

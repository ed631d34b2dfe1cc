import type { Target } from "../call-target.ts";
import { callTarget } from "../call-target.ts";

export type Found = "ok" | "down";

const patienceMs = 2000;

/** Which of them answer; all are asked at once, so the slowest alone costs time. */
export async function askTargets(
  targets: ReadonlyMap<string, Target>,
): Promise<Record<string, Found>> {
  const found = [...targets].map(async ([name, target]): Promise<[string, Found]> => {
    const request = { method: "GET", path: "/livez", timeoutMs: patienceMs };
    const isUp = await callTarget(target, request).then(
      ({ status }) => status < 500,
      () => false,
    );
    return [name, isUp ? "ok" : "down"];
  });
  return Object.fromEntries(await Promise.all(found));
}

export function overall(targets: Readonly<Record<string, Found>>): "ok" | "degraded" | "down" {
  const found = Object.values(targets);
  if (found.every((each) => each === "ok")) return "ok";
  return found.includes("ok") ? "degraded" : "down";
}

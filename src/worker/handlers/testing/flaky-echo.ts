import { createHash, randomInt } from "node:crypto";
import { defineHandler } from "../../define-handler.ts";
import { TransientError } from "../../errors.ts";

const parts = 2 ** 32;

export const flakyEcho = defineHandler("flaky_echo", async (params, { attempt }) => {
  const { failure_rate, seed, ...others } = params;
  const drawn = seed === undefined ? randomInt(parts) : drawSeeded(seed, attempt);
  if (drawn / parts < failure_rate) {
    throw new TransientError(`flaky: attempt ${attempt} failed`, { code: "FLAKY" });
  }
  return { echoed_params: others };
});

function drawSeeded(seed: number, attempt: number): number {
  return createHash("sha256").update(`${seed}/${attempt}`).digest().readUInt32BE();
}

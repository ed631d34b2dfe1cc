import { setTimeout as pause } from "node:timers/promises";
import { defineHandler } from "../../define-handler.ts";
import { TransientError } from "../../errors.ts";
import { runPhases } from "../../run-phases.ts";
import type { Phase } from "../../run-phases.ts";

export const multiPhase = defineHandler("multi_phase", async (params, context) => {
  const { phases, seconds_per_phase, fail_in_phase } = params;
  const steps = Array.from({ length: phases }, (_, index): Phase => {
    const number = index + 1;
    return {
      name: `phase_${number}`,
      run: async () => {
        await pause(seconds_per_phase * 1000, undefined, { signal: context.signal });
        if (number === fail_in_phase && context.attempt === 0) {
          throw new TransientError(`phase ${number} fails once, as asked`, { code: "FAILED_ONCE" });
        }
        context.logger.info(`phase ${number} of ${phases} is done`);
        return { number };
      },
    };
  });
  const { artifacts, resumedFrom } = await runPhases(context, steps);
  return { phases_completed: artifacts.size, resumed_from: resumedFrom };
});

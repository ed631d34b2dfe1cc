import type { Orchestrator } from "./programs.ts";
import { finished, submit } from "./programs.ts";
import { waitFor } from "./wait.ts";

/** Not from the queue, and not by a report: how many tasks went which way. */
export async function counted({ url }: Orchestrator): Promise<{ handed: number; told: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) =>
    Number(new RegExp(`^rmhdag_engine_${name}_total (\\d+)$`, "m").exec(text)?.[1]);
  return { handed: value("handed"), told: value("told") };
}

/** Runs jobs of this workflow until one was handed over. */
export async function linked(orchestrator: Orchestrator, workflow = "chain"): Promise<void> {
  await waitFor(
    async () => {
      await finished(orchestrator, await submit(orchestrator, workflow));
      return (await counted(orchestrator)).handed > 0;
    },
    { what: "a task to be handed over" },
  );
}

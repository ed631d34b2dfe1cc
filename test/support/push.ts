import type { Orchestrator } from "./programs.ts";
import { finished, submit } from "./programs.ts";
import { waitFor } from "./wait.ts";

/** How many tasks were pushed to workers, and how many reports workers pushed. */
export async function counted({
  url,
}: Orchestrator): Promise<{ pushed: number; reported: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) =>
    Number(new RegExp(`^rmhdag_engine_${name}_total (\\d+)$`, "m").exec(text)?.[1]);
  return { pushed: value("pushed"), reported: value("reported") };
}

/** Runs jobs of this workflow until a task was pushed. */
export async function connected(orchestrator: Orchestrator, workflow = "chain"): Promise<void> {
  await waitFor(
    async () => {
      await finished(orchestrator, await submit(orchestrator, workflow));
      return (await counted(orchestrator)).pushed > 0;
    },
    { what: "a task to be pushed" },
  );
}

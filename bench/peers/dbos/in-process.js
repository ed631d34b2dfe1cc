/** DBOS as a library: workflow and steps run in the submitter, with no hop to another process. */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { inFlight } from "../../harness/in-flight.js";
import { timed, timeJobs } from "../../harness/time-jobs.js";
import { chain, diamond, fan, launch, one } from "./workflows.js";
import { warmUpJobs } from "../../harness/warm-up.js";

export async function open({ databaseUrl, workload }) {
  await launch(databaseUrl);
  const runs = {
    W1: (count) => timeJobs(count, (n) => one(n)),
    W2: (count) => timed(count, () => chain(count)),
    W3: (count) =>
      timed(count, async () => {
        const collected = await fan(count);
        if (collected.length !== count) throw new Error("outputs are missing");
      }),
    W4: (count) => timed(5 * count, () => inFlight(count, 100, (n) => diamond(n))),
  };
  return {
    roles: () => ({}),
    async warmUp() {
      await runs.W1(warmUpJobs(workload));
      if (workload === "W3") await runs.W3(100);
      if (workload === "W4") await runs.W4(20);
    },
    run: (count) => runs[workload](count),
    close: () => DBOS.shutdown(),
  };
}

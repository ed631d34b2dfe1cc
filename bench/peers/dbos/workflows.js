/** The same workflows for both ways to run them. A step runs where its workflow runs. */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { payload } from "../../harness/payload.js";

const echo = (n) => DBOS.runStep(async () => ({ n, payload }), { name: "echo" });

export const one = DBOS.registerWorkflow((n) => echo(n), { name: "one" });
export const chain = DBOS.registerWorkflow(
  async (length) => {
    let last;
    for (let n = 0; n < length; n++) last = await echo(n);
    return last;
  },
  { name: "chain" },
);
export const fan = DBOS.registerWorkflow(
  (width) => Promise.all(Array.from({ length: width }, (_, n) => echo(n))),
  { name: "fan" },
);
export const diamond = DBOS.registerWorkflow(
  async (n) => {
    await echo(n);
    await Promise.all([echo(n), echo(n), echo(n)]);
    return echo(n);
  },
  { name: "diamond" },
);
/** The cheapest durable task that it has: a workflow that is its own only step. */
export const bare = DBOS.registerWorkflow(async (n) => ({ n, payload }), { name: "bare" });

export async function launch(databaseUrl) {
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: databaseUrl,
    systemDatabasePoolSize: 20,
    applicationVersion: "bench",
    logLevel: "error",
    runAdminServer: false,
  });
  await DBOS.launch();
}

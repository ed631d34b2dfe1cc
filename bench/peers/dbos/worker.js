import { DBOS } from "@dbos-inc/dbos-sdk";
import { config, ready } from "../be-worker.js";
import { launch } from "./workflows.js";

await launch(config.databaseUrl);
// DBOS polls its queues once a second by default.
await DBOS.registerQueue("bench", { workerConcurrency: 1000, minPollingIntervalMs: 10 });
ready(() => DBOS.shutdown());

import { run } from "graphile-worker";
import { config, countDone, ready } from "../be-worker.js";
import { quiet } from "./quiet.js";

// As its documentation advises for throughput: jobs fetched 500 at a time, completions batched.
const batching = {
  concurrentJobs: 24,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
};

const runner = await run({
  preset: {
    worker: {
      connectionString: config.databaseUrl,
      logger: quiet,
      ...(config.batching ? batching : { concurrentJobs: 10 }),
    },
  },
  noHandleSignals: true,
  taskList: {
    echo: async () => {
      countDone();
    },
  },
});
ready(() => runner.stop());

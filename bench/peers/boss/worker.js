import { PgBoss } from "pg-boss";
import { config, countDone, ready } from "../be-worker.js";

// A flow is opened level by level by a timer, for which it accepts no less than a second.
const boss = new PgBoss({
  connectionString: config.databaseUrl,
  useListenNotify: true,
  flowIntervalSeconds: 1,
  schedule: false,
});
boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
await boss.start();

// Half a second is its minimum; a job that a flow has opened sends no NOTIFY.
const polling = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };
const many = {
  ...polling,
  batchSize: 1000,
  localConcurrency: 2,
  burstWhenBatchFull: true,
  perJobResults: true,
};
if (config.single) {
  await boss.work("echo", polling, async ([job]) => {
    countDone();
    return job.data;
  });
} else {
  await boss.work("echo", many, async (jobs) => {
    countDone(jobs.length);
    return jobs.map(({ id, data }) => ({ id, status: "completed", output: data }));
  });
}
// flow() hands no outputs on, so the fan-in reads them itself.
await boss.work("gather", polling, async ([{ id }]) => {
  const { rows } = await boss.getDb().executeSql(
    `SELECT p.output FROM pgboss.job_dependency d
       JOIN pgboss.job p ON p.name = d.parent_name AND p.id = d.parent_id
      WHERE d.child_id = $1`,
    [id],
  );
  return { results: rows.map(({ output }) => output) };
});
ready(() => boss.stop({ graceful: false }));

/** What our engine does in each workload; `engine` is what adapter.js has started. */
import { chunks, inFlight } from "../harness/in-flight.js";
import { clients } from "../harness/plan.js";
import { timed, timeJobs } from "../harness/time-jobs.js";

const submittedTogether = 100;
/** Enough that the orchestrator never waits for the submitter. */
const submissionsInFlight = 4;
const fanOuts = 100;

export function createRuns({ api, watch, gateway, variant, startWorkers, holdWorkers }) {
  const items = (count) => Array.from({ length: count }, (_, at) => at);
  const submit = (workflow_id, inputs) => api.post("/api/v1/jobs", { workflow_id, inputs });
  let expected = 0;

  /** Resolves with the job's result in hand. */
  async function runJob(workflow_id, inputs) {
    const answer = await api.post("/api/v1/jobs?wait=60", { workflow_id, inputs });
    if (answer.status === "completed" && answer.result === undefined) {
      throw new Error(`job ${answer.job_id} was answered without its result`);
    }
    expected += 1;
    // One that takes longer than a request may wait.
    if (answer.status !== "completed") await watch.jobCompleted(answer.job_id);
    return answer.job_id;
  }

  async function submitBatches(count, workflow_id) {
    expected += count;
    const batches = chunks(count, submittedTogether);
    await inFlight(batches.length, submissionsInFlight, async (at) => {
      const jobs = batches[at].map((n) => ({ workflow_id, inputs: { n } }));
      const { refused } = await api.post("/api/v1/jobs/batch", { jobs });
      if (refused > 0) throw new Error(`${refused} jobs were refused`);
    });
  }

  async function submitSingly(count, workflow_id) {
    expected += count;
    await inFlight(count, clients, (n) => submit(workflow_id, { n }));
  }

  async function submitDiamonds(count) {
    if (variant === "single") await submitSingly(count, "bench_diamond");
    else await submitBatches(count, "bench_diamond");
  }

  async function fanOut(count) {
    let jobId;
    const result = await timed(count, async () => {
      jobId = await runJob("bench_fan", { items: items(count) });
    });
    const collected = await watch.collected(jobId);
    if (collected !== count) throw new Error(`${collected} of ${count} children completed`);
    return result;
  }

  const runs = {
    W1: (count) => timeJobs(count, (n) => runJob("bench_one", { n })),
    W2: (count) => timed(count, () => runJob("bench_chain", {})),
    W3: fanOut,
    W4: (count) =>
      timed(5 * count, async () => {
        await submitDiamonds(count);
        await watch.allCompleted(expected);
      }),
    /** As W4, but the workers are held until all jobs are there: so many are active at once. */
    W4active: (count) =>
      timed(5 * count, async () => {
        await holdWorkers(() => submitDiamonds(count));
        await watch.allCompleted(expected);
      }),
    async W5(count) {
      await startWorkers();
      return timed(count, () => watch.allCompleted(expected));
    },
    W6: (count) =>
      timed(count, async () => {
        expected += count;
        await inFlight(count, submissionsInFlight, gateway?.submit);
        await watch.allCompleted(expected);
      }),
    W7: (count) => timed(count, () => submitSingly(count, "bench_one")),
  };

  return {
    ...runs,
    /** The backlog of W5. */
    async fill(count) {
      if (variant?.startsWith("jobs")) return submitBatches(count, "bench_one");
      expected += fanOuts;
      await inFlight(fanOuts, submissionsInFlight, () =>
        submit("bench_fan", { items: items(count / fanOuts) }),
      );
    },
  };
}

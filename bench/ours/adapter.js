/**
 * Our engine in the benchmark: the orchestrator and worker programs of dist/, jobs over the HTTP
 * API. The contract of an adapter stands in driver.js.
 */
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chunks, inFlight } from "../harness/in-flight.js";
import { timed, timeJobs } from "../harness/time-jobs.js";
import { chainWorkflow } from "./chain-workflow.js";
import { createPoster } from "./http.js";
import { startProgram } from "./programs.js";
import { openWatch } from "./watch.js";
import { warmUpJobs } from "../harness/warm-up.js";

const workflows = fileURLToPath(new URL("../workflows", import.meta.url));
const submittedTogether = 100;
/** Enough that the orchestrator never waits for the submitter. */
const submissionsInFlight = 4;

export async function open({ databaseUrl, watchUrl, workload, size, settings, ...given }) {
  const folder = await mkdtemp(path.join(given.folder, "ours-"));
  await cp(workflows, path.join(folder, "workflows"), { recursive: true });
  const length = workload === "W2" ? size : 2;
  await writeFile(path.join(folder, "workflows/bench_chain.yaml"), chainWorkflow(length));
  const root = settings.root ?? new URL("../../", import.meta.url).href;
  const { migrate } = await import(new URL("dist/adapters/postgres/migrate.js", root).href);
  await migrate(databaseUrl);

  const env = { DATABASE_URL: databaseUrl, RMHDAG_DATA_DIR: folder, ...settings.env };
  const roles = {};
  const programs = [];
  const start = async (name, more) => {
    const program = await startProgram(name, { ...env, ...more }, { ...settings, root });
    programs.push(program);
    roles[program.pid] = name;
    return program;
  };
  const orchestrator = await start("orchestrator", {
    ORCHESTRATOR_PORT: "0",
    RMHDAG_WORKFLOWS: path.join(folder, "workflows"),
    RMHDAG_OPEN_ON_LOOPBACK: "true",
  });
  const startWorkers = () =>
    Promise.all(
      Array.from({ length: settings.workers }, () =>
        start("worker", {
          WORKER_TYPE: "light",
          WORKER_CONCURRENCY: String(settings.concurrency),
          ...(settings.transport === "http" && {
            DATABASE_URL: "",
            DAG_CALLBACK_URL: orchestrator.fields.url,
          }),
        }),
      ),
    );
  const api = createPoster(orchestrator.fields.url, { connections: submissionsInFlight });
  const watch = await openWatch(watchUrl);
  const submit = (workflow_id, inputs) => api.post("/api/v1/jobs", { workflow_id, inputs });
  const submitAndWait = (workflow_id, inputs) =>
    api.post("/api/v1/jobs?wait=60", { workflow_id, inputs });
  const items = (count) => Array.from({ length: count }, (_, at) => at);
  let expected = 0;

  const runJob = async (workflow, inputs) => {
    const { job_id, status } = await submitAndWait(workflow, inputs);
    // One that takes longer than a request may wait.
    if (status !== "completed") await watch.jobCompleted(job_id);
    return job_id;
  };

  async function fanOut(count) {
    let jobId;
    const result = await timed(count, async () => {
      jobId = await runJob("bench_fan", { items: items(count) });
    });
    const collected = await watch.collected(jobId);
    if (collected !== count) throw new Error(`${collected} of ${count} children completed`);
    return result;
  }

  async function submitDiamonds(count) {
    expected += count;
    const batches = chunks(count, submittedTogether);
    await inFlight(batches.length, submissionsInFlight, async (at) => {
      const jobs = batches[at].map((n) => ({ workflow_id: "bench_diamond", inputs: { n } }));
      const { refused } = await api.post("/api/v1/jobs/batch", { jobs });
      if (refused > 0) throw new Error(`${refused} jobs were refused`);
    });
  }

  /** As a partner's request: its own asset and version, with their rows and events. */
  async function submitGoverned(count) {
    if (!hasPlatform) {
      const edit = { display_name: "Bench", required_refs: ["dataset_id"] };
      await api.send("PUT", "/api/v1/platforms/bench", edit);
      hasPlatform = true;
    }
    expected += count;
    await inFlight(count, submissionsInFlight, () =>
      api.post("/api/v1/submit", {
        platform_id: "bench",
        platform_refs: { dataset_id: `d${datasets++}` },
        version_label: "v1",
        workflow_id: "bench_one",
        inputs: {},
      }),
    );
  }
  let hasPlatform = false;
  let datasets = 0;

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
        const workers = programs.filter(({ pid }) => roles[pid] === "worker");
        for (const { pid } of workers) process.kill(pid, "SIGSTOP");
        await submitDiamonds(count);
        for (const { pid } of workers) process.kill(pid, "SIGCONT");
        await watch.allCompleted(expected);
      }),
    W6: (count) =>
      timed(count, async () => {
        await submitGoverned(count);
        await watch.allCompleted(expected);
      }),
    async W5(count) {
      await startWorkers();
      return timed(count, () => watch.allCompleted(expected));
    },
  };
  return {
    roles: () => roles,
    async warmUp() {
      if (workload === "W5") return;
      await startWorkers();
      await runs.W1(warmUpJobs(workload));
      expected += warmUpJobs(workload);
      if (workload === "W2") await runs.W2(size);
      if (workload === "W3") await fanOut(200);
      if (workload.startsWith("W4")) await runs.W4(20);
      if (workload === "W6") await runs.W6(20);
    },
    async fill(count) {
      expected = 100;
      const width = count / expected;
      await inFlight(expected, submissionsInFlight, () =>
        submit("bench_fan", { items: items(width) }),
      );
    },
    run: (count) => runs[workload](count),
    async close() {
      api.close();
      await watch.close();
      await Promise.all(programs.reverse().map((program) => program.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

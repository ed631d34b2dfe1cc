/**
 * The seeded chaos run: random workflows whose end a model knows, several orchestrators and workers
 * as real processes on a server of their own, and a loop that kills, freezes and ends all of them in
 * turn, the server included. The seed decides which program gets which fault; the moment depends on
 * the machine.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { describeStuck, expectInvariants } from "./chaos-invariants.ts";
import type { ChaosReport } from "./chaos-report.ts";
import { countChaos, watchRedeliveries } from "./chaos-report.ts";
import type { ChaosServer } from "./chaos-server.ts";
import { startChaosServer } from "./chaos-server.ts";
import type { ChaosWork } from "./chaos-work.ts";
import { expectModel, makeChaosWork } from "./chaos-work.ts";
import type { Orchestrator, Program } from "./programs.ts";
import { Fleet } from "./programs.ts";
import { Random } from "./random.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
}

const orchestratorSettings = {
  HEARTBEAT_INTERVAL_SEC: "0.3",
  ORPHAN_THRESHOLD_SEC: "1",
  ORPHAN_SCAN_INTERVAL_SEC: "0.3",
  RECOVER_INTERVAL_SEC: "0.5",
  POLL_INTERVAL_SEC: "0.5",
  LEASE_SEC: "1",
  // A message may lose its worker any number of times here, and that must not decide its fate.
  MAX_DELIVERIES: "1000",
};
const workerSettings = { WORKER_CONCURRENCY: "4", WORKER_SHUTDOWN_SECONDS: "2" };
const workflowCount = 12;
const maxOpenJobs = 30;
/** Longer than every lease, threshold and time-out of a frozen transaction. */
const freezeMs = 1800;
/** After the last fault, so long without a new event means stuck. */
const stallMs = 20_000;

const actions = [
  "kill orchestrator",
  "freeze orchestrator",
  "end orchestrator",
  "kill worker",
  "freeze worker",
  "end worker",
  "crash server",
] as const;

export async function runChaos({ seed, seconds }: ChaosOptions): Promise<ChaosReport> {
  const works = Array.from({ length: workflowCount }, (_, index) => makeChaosWork(seed, index));
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-chaos-"));
  for (const { workflow_id, tree } of works) {
    await writeFile(path.join(folder, `${workflow_id}.yaml`), JSON.stringify(tree));
  }
  const server = await startChaosServer();
  const url = new URL(server.url);
  url.searchParams.set("idle_in_transaction_session_timeout", "1000");
  url.searchParams.set("query_timeout", "5000");
  const fleet = new Fleet(url.href, folder);
  const db = openDatabase({ url: url.href, applicationName: "rmhdag chaos" });
  try {
    await watchRedeliveries(db);
    const run = new Run(seed, server, fleet, db, works);
    return await run.play(seconds);
  } finally {
    await fleet.stop();
    await db.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

class Run {
  private readonly random: Random;
  private readonly server: ChaosServer;
  private readonly fleet: Fleet;
  private readonly db: Database;
  private readonly works: readonly ChaosWork[];
  private orchestrators: Orchestrator[] = [];
  private workers: Program[] = [];
  private readonly allPrograms: Program[] = [];
  private readonly thaws: Promise<void>[] = [];
  private readonly submitted = new Set<string>();
  private readonly peace = new AbortController();
  private deck: (typeof actions)[number][] = [];
  private readonly done = new Map<string, number>();

  constructor(
    seed: number,
    server: ChaosServer,
    fleet: Fleet,
    db: Database,
    works: readonly ChaosWork[],
  ) {
    this.random = new Random(seed);
    this.server = server;
    this.fleet = fleet;
    this.db = db;
    this.works = works;
  }

  async play(seconds: number): Promise<ChaosReport> {
    const count = 2 + this.random.int(2);
    for (let i = 0; i < count; i++) await this.addOrchestrator();
    for (let i = 0; i < count; i++) await this.addWorker();
    const until = performance.now() + seconds * 1000;
    const load = this.submitAll();
    // On a slow machine it takes longer until every kind of harm was done once.
    while (performance.now() < until || this.done.size < actions.length) {
      await this.harm();
      await pause(100 + this.random.int(500));
    }
    this.peace.abort();
    await Promise.all([load, ...this.thaws]);
    await this.converge();
    await expectInvariants(this.db);
    await expectModel(this.db, new Map(this.works.map((work) => [work.workflow_id, work])));
    const { db, submitted, done, allPrograms: programs } = this;
    return countChaos({ db, submitted, done, programs });
  }

  private isHarming(): boolean {
    return !this.peace.signal.aborted;
  }

  private async addOrchestrator(): Promise<void> {
    const program = await this.fleet.orchestrator(orchestratorSettings);
    this.orchestrators.push(program);
    this.allPrograms.push(program);
  }

  private async addWorker(): Promise<void> {
    const program = await this.fleet.worker(workerSettings);
    this.workers.push(program);
    this.allPrograms.push(program);
  }

  /** Every kind of harm comes once before any comes again, so that a short run has seen them all. */
  private async harm(): Promise<void> {
    if (this.deck.length === 0) this.deck = this.random.shuffle(actions);
    const action = this.deck.pop() ?? "crash server";
    this.done.set(action, (this.done.get(action) ?? 0) + 1);
    const [verb, whom] = action.split(" ");
    if (whom === "server") {
      await this.server.crash();
      await this.server.start();
      return;
    }
    const isWorker = whom === "worker";
    const programs: Program[] = isWorker ? this.workers : this.orchestrators;
    const victim = this.random.pick(programs);
    if (verb === "freeze") {
      victim.signal("SIGSTOP");
      this.thaws.push(
        pause(freezeMs).then(() => {
          victim.signal("SIGCONT");
        }),
      );
      return;
    }
    // A frozen program gets the signal only when it goes on.
    victim.signal("SIGCONT");
    victim.signal(verb === "kill" ? "SIGKILL" : "SIGTERM");
    if (isWorker) {
      this.workers = this.workers.filter((one) => one !== victim);
      await this.addWorker();
    } else {
      this.orchestrators = this.orchestrators.filter((one) => one !== victim);
      await this.addOrchestrator();
    }
  }

  /** Submits jobs, each with a key, and repeats a submission until an orchestrator answers it. */
  private async submitAll(): Promise<void> {
    const choose = new Random(this.random.int(2 ** 31));
    for (let n = 0; this.isHarming(); n++) {
      const work = choose.pick(this.works);
      const body = {
        workflow_id: work.workflow_id,
        inputs: work.inputs,
        idempotency_key: `job ${n}`,
      };
      for (let taken = false; !taken;) {
        const signal = AbortSignal.timeout(1000);
        const { client } = choose.pick(this.orchestrators);
        taken = await client.submitJob({ body, signal }).then(
          () => true,
          () => false,
        );
        // Unanswered when the faults ended: it may have been recorded or not.
        if (!taken && !this.isHarming()) return;
        if (!taken) await pause(50);
      }
      this.submitted.add(body.idempotency_key);
      while (this.isHarming() && (await this.openJobs()) >= maxOpenJobs) await pause(50);
    }
  }

  private async openJobs(): Promise<number> {
    return this.one(
      `SELECT count(*)::integer AS n FROM dagapp.dag_jobs
                     WHERE status IN ('pending', 'running')`,
    ).catch(() => maxOpenJobs);
  }

  /** All jobs end, or whatever is stuck is shown. */
  private async converge(): Promise<void> {
    let last = -1;
    let since = performance.now();
    for (;;) {
      const events = await this.one(`SELECT count(*)::integer AS n FROM dagapp.dag_job_events`);
      if ((await this.openJobs()) === 0) return;
      if (events !== last) {
        last = events;
        since = performance.now();
      } else if (performance.now() - since > stallMs) {
        throw new Error(
          `Nothing has happened for ${stallMs} ms, and jobs are open.\n` +
            `${await describeStuck(this.db)}\n${this.lastWords()}`,
        );
      }
      await pause(100);
    }
  }

  /** What the programs that are still there complained of last, without the stacks. */
  private lastWords(): string {
    return [...this.orchestrators, ...this.workers]
      .map((program) => {
        const lines = program.output().split("\n");
        const complaints = lines.filter((line) => /WARN|ERROR|FATAL|^\w*error: /i.test(line));
        return [`${program.name} ${program.pid}:`, ...complaints.slice(-25)].join("\n  ");
      })
      .join("\n");
  }

  private async one(text: string): Promise<number> {
    const { rows } = await this.db.query<{ n: number }>(text);
    return rows[0]?.n ?? 0;
  }
}

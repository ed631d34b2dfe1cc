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
import type { Balancer } from "./balance.ts";
import { startBalancer } from "./balance.ts";
import { describeStuck, expectInvariants } from "./chaos-invariants.ts";
import type { ChaosReport } from "./chaos-report.ts";
import { countChaos, ranAlone, watchRedeliveries } from "./chaos-report.ts";
import type { ChaosBroker } from "./chaos-broker.ts";
import { startChaosBroker } from "./chaos-broker.ts";
import type { ChaosServer } from "./chaos-server.ts";
import { startChaosServer } from "./chaos-server.ts";
import type { ChaosWork } from "./chaos-work.ts";
import { expectModel, makeChaosWork, makePoison } from "./chaos-work.ts";
import type { Orchestrator, Program } from "./programs.ts";
import { Fleet } from "./programs.ts";
import { Random } from "./random.ts";
import { waitFor } from "./wait.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  /** An outside broker that carries the messages, and is killed as well; absent: PostgreSQL alone. */
  readonly broker?: string | undefined;
  /** Workers beside those with a database. */
  readonly workers?: readonly WorkerKind[];
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
  "kill server",
  "lock row",
  "darken network",
  "poison task",
  "forbid writes",
] as const;
const brokerActions = ["kill broker", "remove broker"] as const;
type Action = (typeof actions)[number] | (typeof brokerActions)[number];
/** A removed broker is away for a quarter of the run, and at most for so long. */
const longestAwayMs = 60_000;
/** So long a run may go on until a lost message has run alone. */
const longestLoneMs = 120_000;
/** How a worker reaches the platform. */
export type WorkerKind = "direct" | "http" | "python";
const pythonFile = path.join(import.meta.dirname, "chaos-worker.py");

export async function runChaos({
  seed,
  seconds,
  broker,
  workers = [],
}: ChaosOptions): Promise<ChaosReport> {
  const hasPython = workers.includes("python");
  const works = Array.from({ length: workflowCount }, (_, index) =>
    makeChaosWork(seed, index, hasPython),
  );
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-chaos-"));
  for (const { workflow_id, tree } of [...works, makePoison(3)]) {
    await writeFile(path.join(folder, `${workflow_id}.yaml`), JSON.stringify(tree));
  }
  const server = await startChaosServer();
  const url = new URL(server.url);
  url.searchParams.set("idle_in_transaction_session_timeout", "1000");
  url.searchParams.set("query_timeout", "5000");
  const fleet = new Fleet(url.href, folder);
  const outside = await startChaosBroker(broker);
  const db = openDatabase({ url: url.href, applicationName: "rmhdag chaos" });
  try {
    await watchRedeliveries(db);
    const run = new Run(seed, server, fleet, db, works, outside);
    return await run.play(seconds, workers).finally(() => {
      run.end();
    });
  } finally {
    await fleet.stop();
    await db.close();
    await outside?.stop();
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
  private readonly broker: ChaosBroker | undefined;
  private readonly actions: readonly Action[];
  private orchestrators: Orchestrator[] = [];
  private workers: (Program & { readonly kind: WorkerKind })[] = [];
  private balancer: Balancer | undefined;
  private readonly allPrograms: Program[] = [];
  private readonly thaws: Promise<void>[] = [];
  private readonly submitted = new Set<string>();
  private readonly peace = new AbortController();
  private deck: Action[] = [];
  private readonly done = new Map<string, number>();
  private readonly poison = makePoison(3);
  /** Poisonous jobs that are to be submitted. */
  private poisons = 0;
  private isBrokerAway = false;
  private awayMs = 0;
  private isOver = false;

  constructor(
    seed: number,
    server: ChaosServer,
    fleet: Fleet,
    db: Database,
    works: readonly ChaosWork[],
    broker: ChaosBroker | undefined,
  ) {
    this.random = new Random(seed);
    this.server = server;
    this.fleet = fleet;
    this.db = db;
    this.works = works;
    this.broker = broker;
    this.actions = broker === undefined ? actions : [...actions, ...brokerActions];
  }

  async play(seconds: number, kinds: readonly WorkerKind[]): Promise<ChaosReport> {
    const count = 2 + this.random.int(2);
    for (let i = 0; i < count; i++) await this.addOrchestrator();
    // Workers over HTTP outlive the orchestrator that they began with.
    this.balancer = await startBalancer(() => this.random.pick(this.orchestrators));
    for (let i = 0; i < count; i++) await this.addWorker("direct");
    for (const kind of kinds) await this.addWorker(kind);
    const until = performance.now() + seconds * 1000;
    this.awayMs = Math.min(longestAwayMs, seconds * 250);
    const load = this.submitAll();
    // On a slow machine it takes longer until every kind of harm was done once.
    while (performance.now() < until || this.done.size < this.actions.length) {
      await this.harm();
      await pause(100 + this.random.int(500));
    }
    // Whether a message is lost together with others is left to chance: provoked until it has happened.
    while (!this.hasRunAlone() && performance.now() < until + longestLoneMs) {
      if (this.poisons === 0) this.poisons += 1;
      await pause(500);
    }
    this.peace.abort();
    await Promise.all([load, ...this.thaws]);
    await this.converge();
    this.end();
    await this.balancer.close();
    await this.persist(() => this.db.query("SELECT 1"));
    await expectInvariants(this.db);
    const works = [...this.works, this.poison];
    await expectModel(this.db, new Map(works.map((work) => [work.workflow_id, work])));
    const { db, submitted, done, allPrograms: programs } = this;
    return countChaos({ db, submitted, done, programs });
  }

  /** Workers that end from now on are not replaced. */
  end(): void {
    this.isOver = true;
  }

  private isHarming(): boolean {
    return !this.peace.signal.aborted;
  }

  private async addOrchestrator(): Promise<void> {
    const program = await this.fleet.orchestrator({
      ...orchestratorSettings,
      ...this.broker?.env,
    });
    this.orchestrators.push(program);
    this.allPrograms.push(program);
  }

  private async startWorker(kind: WorkerKind): Promise<Program> {
    const url = this.balancer?.url ?? "";
    switch (kind) {
      case "http":
        return this.fleet.httpWorker(url, workerSettings);
      case "python":
        return this.fleet.pythonWorker(url, pythonFile);
      case "direct":
        return this.fleet.worker({ ...workerSettings, ...this.broker?.env });
    }
  }

  private async addWorker(kind: WorkerKind): Promise<void> {
    const program = { ...(await this.startWorker(kind)), kind };
    this.workers.push(program);
    this.allPrograms.push(program);
    // A worker that a poisonous task has killed is replaced.
    void program.gone.then(async () => {
      if (!this.workers.includes(program) || this.isOver) return;
      this.workers = this.workers.filter((one) => one !== program);
      await this.addWorker(kind);
    });
  }

  /** Every kind of harm comes once before any comes again, so that a short run has seen them all. */
  private async harm(): Promise<void> {
    if (this.deck.length === 0) this.deck = this.random.shuffle(this.actions);
    const action = this.deck.pop() ?? "crash server";
    this.done.set(action, (this.done.get(action) ?? 0) + 1);
    const [verb, whom] = action.split(" ");
    switch (action) {
      case "crash server":
        await this.server.crash();
        await this.server.start();
        return;
      case "kill broker":
        await this.stopBroker(0);
        return;
      case "remove broker":
        this.thaws.push(this.stopBroker(this.awayMs));
        return;
      case "kill server":
        await this.server.die();
        return;
      case "lock row":
        this.thaws.push(this.lockRow());
        return;
      case "darken network":
        this.server.proxy.silence("");
        return;
      case "poison task":
        this.poisons += 1;
        return;
      case "forbid writes":
        await this.forbidWrites();
        return;
      default:
    }
    // Poisonous tasks may have killed all of them, and their replacements take a while to start.
    const isThere = { what: "a worker to harm", timeoutMs: 120_000 };
    if (whom === "worker") await waitFor(() => this.workers.length > 0, isThere);
    const worker = whom === "worker" ? this.random.pick(this.workers) : undefined;
    const victim: Program = worker ?? this.random.pick(this.orchestrators);
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
    if (worker !== undefined) {
      this.workers = this.workers.filter((one) => one !== victim);
      await this.addWorker(worker.kind);
    } else {
      this.orchestrators = this.orchestrators.filter((one) => one !== victim);
      await this.addOrchestrator();
    }
  }

  private hasRunAlone(): boolean {
    return this.allPrograms.some((program) => ranAlone.test(program.output()));
  }

  private async stopBroker(forMs: number): Promise<void> {
    if (this.broker === undefined || this.isBrokerAway) return;
    this.isBrokerAway = true;
    await this.broker.leave();
    await pause(forMs);
    await this.broker.comeBack();
    this.isBrokerAway = false;
  }

  /** Another session keeps a job locked for a while. */
  private async lockRow(): Promise<void> {
    const held = this.db.transaction(async (tx) => {
      await tx.query("SET LOCAL idle_in_transaction_session_timeout = 0");
      await tx.query(
        `SELECT FROM dagapp.dag_jobs WHERE status = 'running' ORDER BY random() LIMIT 1 FOR UPDATE`,
      );
      await pause(freezeMs);
    });
    // The server may have died under it.
    await held.catch(() => undefined);
  }

  private async forbidWrites(): Promise<void> {
    await this.setReadOnly("on");
    await pause(freezeMs);
    await this.setReadOnly("off");
  }

  private async setReadOnly(value: "on" | "off"): Promise<void> {
    await this.persist(async () => {
      await this.db.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await this.db.query("SELECT pg_reload_conf()");
    });
  }

  /** The connections of the test are cut and darkened as well. */
  private async persist<T>(work: () => Promise<T>): Promise<T> {
    return waitFor(async () => ({ answer: await work() }), {
      timeoutMs: 60_000,
      what: "the database to answer the test",
    }).then(({ answer }) => answer);
  }

  /** Submits jobs, each with a key, and repeats a submission until an orchestrator answers it. */
  private async submitAll(): Promise<void> {
    const choose = new Random(this.random.int(2 ** 31));
    for (let n = 0; this.isHarming(); n++) {
      const work = this.poisons > 0 ? this.poison : choose.pick(this.works);
      if (work === this.poison) this.poisons -= 1;
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
      const events = await this.one(
        `SELECT count(*)::integer AS n FROM dagapp.dag_unpacked_events`,
      );
      if ((await this.openJobs()) === 0) return;
      if (events !== last) {
        last = events;
        since = performance.now();
      } else if (performance.now() - since > stallMs) {
        throw new Error(
          `Nothing has happened for ${stallMs} ms, and jobs are open.\n` +
            `${await describeStuck(this.db)}\n${this.broker?.describe?.() ?? ""}\n${this.lastWords()}`,
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
    const { rows } = await this.persist(() => this.db.query<{ n: number }>(text));
    return rows[0]?.n ?? 0;
  }
}

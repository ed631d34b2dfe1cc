/**
 * The rules, alerts and dashboard of deploy/monitoring, on the figures of a real orchestrator. Prometheus's
 * own tool evaluates them.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { hashToken } from "../../src/adapters/http/tokens.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { Fleet } from "../support/programs.ts";

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.join(root, "deploy/monitoring");
const promtool = "/usr/bin/promtool";

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
}

async function rulesOf(name: string): Promise<readonly Rule[]> {
  const text = await readFile(path.join(folder, name), "utf8");
  const { groups } = parse(text) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

let database: TestDatabase;
let fleet: Fleet;
let metrics: string;
let ofWorker: string;
let ofGateway: string;

/** An orchestrator without workers, with tasks that have waited for an hour and a dead letter. */
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.query(
    `INSERT INTO dagapp.dag_queue_ready (queue, message_key, body, enqueued_at)
     VALUES ('container-tasks', 'waits', '{}', now() - interval '1 hour')`,
  );
  await database.db.query(
    `INSERT INTO dagapp.dag_queue_dead (message_id, queue, priority, deliveries, released,
       message_key, body, enqueued_at, reason)
     VALUES (1, 'functionapp-tasks', 0, 5, 0, 'dead', '{}', now(), 'MaxDeliveriesExceeded')`,
  );
  fleet = new Fleet(database.url, path.join(root, "workflows"));
  const orchestrator = await fleet.orchestrator();
  metrics = await (await fetch(`${orchestrator.url}/metrics`)).text();
  const gateway = await fleet.gateway(orchestrator, {
    GATEWAY_OPERATOR_TOKENS: `prometheus:operate:${hashToken("prometheus")}`,
  });
  const headers = { authorization: "Bearer prometheus" };
  ofGateway = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
  const port = String(await freePort());
  await fleet.worker({ WORKER_PORT: port });
  ofWorker = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
});
afterAll(async () => {
  await fleet.stop();
  await database.drop();
});

it("the rules, alerts and dashboard use no figure that the programs do not have", async () => {
  const rules = [...(await rulesOf("rules.yml")), ...(await rulesOf("alerts.yml"))];
  const dashboard = await readFile(path.join(folder, "dashboard.json"), "utf8");
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
  const offered = new Set(
    [...(metrics + ofWorker + ofGateway).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(
      ([, name = "", type]) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
  const text = rules.map(({ expr }) => expr).join("\n") + dashboard.replaceAll('\\"', '"');
  const named = new Set(text.match(/\brmhdag[:_][a-z0-9_:]+/g));
  expect(named.size).toBeGreaterThan(10);
  expect([...named].filter((name) => !offered.has(name) && !recorded.has(name))).toEqual([]);
});

describe.skipIf(!existsSync(promtool))("alerts (needs Prometheus)", () => {
  /** The samples of a scrape as series that keep their value for an hour. */
  const scraped = () =>
    metrics
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const end = line.lastIndexOf(" ");
        return { series: line.slice(0, end), values: `${line.slice(end + 1)}x60` };
      });
  const constant = (series: string, value: number) => ({ series, values: `${value}x60` });
  const failing = [200, 500].map((status) => ({
    series: `rmhdag_http_request_duration_seconds_count{method="GET",path="/x",status="${status}"}`,
    values: "0+60x60",
  }));
  const slow = ["1", "5", "+Inf"].map((le, index) => ({
    series: `rmhdag_http_request_duration_seconds_bucket{le="${le}"}`,
    values: index === 0 ? "0+30x60" : "0+60x60",
  }));

  const causes: Record<string, () => { series: string; values: string }[]> = {
    OrchestratorDown: () => [constant('up{job="rmhdag-orchestrator",instance="a"}', 0)],
    NoOrchestrator: () => [constant('up{job="rmhdag-orchestrator",instance="a"}', 0)],
    EngineStandsStill: () => [constant("rmhdag_engine_tick_age_seconds", 120)],
    NoWorkers: scraped,
    QueueWaits: scraped,
    DeadLetters: scraped,
    JobsQuarantined: () => [constant("rmhdag_engine_quarantined_jobs", 2)],
    TasksLost: () => [{ series: "rmhdag_engine_recovered_total", values: "0+5x60" }],
    LeasesLost: () => [{ series: "rmhdag_leases_lost_total", values: "0+2x60" }],
    CallbacksFail: () =>
      ["accepted", "refused"].map((outcome) => ({
        series: `rmhdag_callback_duration_seconds_count{outcome="${outcome}"}`,
        values: outcome === "refused" ? "0+9x60" : "0+1x60",
      })),
    TicksSlow: () =>
      ["0.5", "5", "+Inf"].map((le, index) => ({
        series: `rmhdag_engine_tick_duration_seconds_bucket{le="${le}"}`,
        values: index === 0 ? "0+30x60" : "0+60x60",
      })),
    RequestsFail: () => failing,
    RequestsSlow: () => slow,
    GatewayCannotCall: () =>
      ["answered", "failed"].map((outcome) => ({
        series: `rmhdag_orchestrator_call_duration_seconds_count{outcome="${outcome}"}`,
        values: outcome === "failed" ? "0+1x60" : "0+9x60",
      })),
    JobOld: () => [constant("rmhdag_oldest_open_job_seconds", 90_000)],
  };

  it.each(Object.entries(causes))("%s fires", async (alert, series) => {
    const work = await mkdtemp(path.join(tmpdir(), "rmhdag-alerts-"));
    try {
      const file = path.join(work, "test.yml");
      const tests = [
        {
          interval: "1m",
          input_series: series(),
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > 0`,
              eval_time: "40m",
              exp_samples: [{ labels: "{}", value: 1 }],
            },
          ],
        },
      ];
      const rule_files = ["rules.yml", "alerts.yml"].map((name) => path.join(folder, name));
      await writeFile(file, JSON.stringify({ rule_files, evaluation_interval: "1m", tests }));
      await promisify(execFile)(promtool, ["test", "rules", file]);
    } finally {
      await rm(work, { recursive: true });
    }
  });

  it("have a test each", async () => {
    const names = (await rulesOf("alerts.yml")).map(({ alert }) => alert);
    expect(Object.keys(causes)).toEqual(names);
  });
});

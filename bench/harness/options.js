import { parseArgs } from "node:util";
import { peerIds } from "./peers.js";
import { workloadIds } from "./plan.js";

const variantIds = ["cold", "warm", "single", "jobs", "jobs-warm"];

export const help = `node bench/run.js [options]

  --rounds N         rounds, each of which runs every peer once (default 3)
  --only W1,W3       only these workloads: ${workloadIds.join(", ")}
  --peers ours,…     only these: ${peerIds.join(", ")}
  --variants jobs,…  only these variants of ours: ${variantIds.join(", ")}
  --http             beside them, our engine with a worker over HTTP, without a database
  --before DIR       beside them, the programs of another checkout that is built
  --traces RATIO     beside them, ours with so many of its jobs traced, such as 0.01
  --older            also on the system's PostgreSQL, where it is of another version (a whole run does)
  --quick            one round with small sizes, for development
  --json             the results as JSON on standard output, and nothing else there
  --workers N        worker processes of our engine (default 1)
  --concurrency N    tasks at once in each of them (default 100)
  --cpu-prof DIR     CPU profiles of our orchestrator and workers
  --statements       after each workload, what took the most time in PostgreSQL

A whole run (none of --only, --peers, --variants, --http, --before, --traces, --quick) writes bench/results/latest.{json,md,svg}.
BENCH_DATABASE_URL names another server than the private one; it needs pg_stat_statements.
`;

export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: "string" },
      only: { type: "string" },
      peers: { type: "string" },
      variants: { type: "string" },
      before: { type: "string" },
      traces: { type: "string" },
      http: { type: "boolean", default: false },
      older: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      workers: { type: "string", default: "1" },
      concurrency: { type: "string", default: "100" },
      "cpu-prof": { type: "string" },
      statements: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  /** Only such a run may stand for the project. */
  const isWhole =
    !values.quick &&
    values.only === undefined &&
    values.peers === undefined &&
    values.variants === undefined &&
    !values.http &&
    values.before === undefined &&
    values.traces === undefined;
  return {
    ...values,
    isWhole,
    older: values.older || isWhole,
    rounds: whole("--rounds", values.rounds ?? (values.quick ? "1" : "3")),
    only: chosen("--only", values.only, workloadIds),
    peers: chosen("--peers", values.peers, peerIds),
    variants: values.variants && chosen("--variants", values.variants, variantIds),
    settings: {
      workers: whole("--workers", values.workers),
      concurrency: whole("--concurrency", values.concurrency),
      cpuProf: values["cpu-prof"],
      statements: values.statements,
    },
  };
}

function whole(name, text) {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${name} must be a whole number above 0, not "${text}".`);
}

function chosen(name, text, known) {
  const names = text === undefined ? known : text.split(",").map((part) => part.trim());
  const wrong = names.find((one) => !known.includes(one));
  if (wrong === undefined) return names;
  throw new Error(`${name} knows ${known.join(", ")}, and not "${wrong}".`);
}

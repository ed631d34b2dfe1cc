/** Who takes part, in which workloads, and where a peer gets another size than the others. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { prepareTool } from "./tools.js";

const here = (file) => new URL(`../${file}`, import.meta.url).href;
const folder = fileURLToPath(new URL("../peers/", import.meta.url));
const plain = [{}];
/** After a run of the same size and ANALYZE: what a database that has been in use would show. */
const warm = { id: "warm", note: "warm", warm: true };
/** Plans that were made on empty tables, which nothing has analysed. */
const cold = { id: "cold", note: "cold" };
const coldAndWarm = [cold, warm];

export const peers = [
  {
    id: "ours",
    label: "rmhdagmaster",
    module: here("ours/adapter.js"),
    workloads: {
      W1: plain,
      W2: plain,
      W3: coldAndWarm,
      W4: [
        { ...cold, note: "batches of 100, cold" },
        { ...warm, note: "batches of 100, warm" },
        { id: "single", note: "single submissions" },
      ],
      W5: [
        { ...cold, note: "100 fan-outs, cold" },
        { ...warm, note: "100 fan-outs, warm" },
        { id: "jobs", note: "jobs of one task, cold" },
        { id: "jobs-warm", warm: true, note: "jobs of one task, warm" },
      ],
      W6: plain,
      W7: plain,
    },
  },
  {
    id: "graphile",
    label: "graphile-worker",
    package: "graphile-worker",
    kind: "a raw queue with no dependencies and no history",
    module: here("peers/graphile/adapter.js"),
    workloads: {
      W1: [{ note: "which keeps no output" }],
      W5: [{ ...warm, note: "a raw queue" }],
      W7: plain,
    },
  },
  {
    id: "pgboss",
    label: "pg-boss",
    package: "pg-boss",
    kind: "a queue with `flow()`, which a timer of one second moves on; no history",
    module: here("peers/boss/adapter.js"),
    workloads: {
      W1: plain,
      // A second a hop, whatever the length: the other 45 would only take time.
      W2: [{ size: 5, repeat: 1 }],
      W3: [{ repeat: 1, warm: true }],
      W4: [{ note: "single submissions", warm: true }],
      W5: [{ ...warm, note: "a raw queue with outputs" }],
      W7: plain,
    },
  },
  {
    id: "dbos",
    label: "DBOS in-process",
    package: "@dbos-inc/dbos-sdk",
    kind: "a library, steps run in the submitter",
    module: here("peers/dbos/in-process.js"),
    // A fan-out is serial in it: ten thousand take ten times as long as one thousand.
    workloads: { W1: plain, W2: plain, W3: [{ most: 1000, repeat: 1 }], W4: plain },
  },
  {
    id: "dbos-queue",
    label: "DBOS queue",
    package: "@dbos-inc/dbos-sdk",
    kind: "polled every 10 ms instead of every second",
    module: here("peers/dbos/queue.js"),
    workloads: {
      W1: plain,
      W2: plain,
      W3: [{ most: 1000, repeat: 1 }],
      W4: plain,
      // It has no bulk interface: filling 100,000 would take half a minute, draining a whole one.
      W5: [{ size: 5000, warm: true }],
    },
  },
  {
    id: "bullmq",
    label: "BullMQ on Redis",
    package: "bullmq",
    kind: "may lose a second of acknowledged work in a crash",
    redis: true,
    module: here("peers/bull/adapter.js"),
    workloads: {
      W1: plain,
      W2: plain,
      W3: plain,
      W4: [
        { id: "bulk", note: "addBulk" },
        { id: "single", note: "single submissions" },
      ],
      W5: [{ note: "addBulk" }],
      W7: plain,
    },
  },
  {
    id: "prefect",
    label: "Prefect",
    // Its server takes 20 seconds to make its tables, and a task tens of milliseconds.
    once: true,
    kind: "its server on this PostgreSQL; flows and tasks in one Python process, states over HTTP",
    tool: "prefect",
    module: here("peers/prefect/adapter.js"),
    workloads: {
      W1: [{ size: 20, repeat: 1 }],
      W2: [{ size: 20, repeat: 1 }],
      W3: [{ size: 200, most: 1000, repeat: 1 }],
      W4: [{ size: 20, note: "20 diamonds" }],
    },
  },
  {
    id: "temporal",
    label: "Temporal",
    // Its server takes ten seconds to start, and a task some milliseconds.
    once: true,
    kind: "its server on this PostgreSQL, all services in one process; one worker with 100 activities at once",
    tool: "temporal",
    module: here("peers/temporal/adapter.js"),
    workloads: {
      W1: plain,
      W2: [{ repeat: 1 }],
      // It allows 2,000 activities at once in a workflow.
      W3: [{ most: 1000, repeat: 1 }],
      W4: [{ size: 200, note: "200 diamonds" }],
      W5: [{ size: 2000 }],
    },
  },
];

/** Another checkout of this project, built: what a change gains or costs, in one run. */
export function checkoutPeer(folder) {
  const [ours] = peers;
  const root = pathToFileURL(`${path.resolve(folder)}/`).href;
  return { ...ours, id: "before", label: "before", kind: "another checkout", settings: { root } };
}

/** Ours, sending traces of `ratio` of its jobs to `url`. */
export function tracedPeer(ratio, url) {
  const [ours] = peers;
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: ratio,
  };
  return { ...ours, id: "traced", label: "traced", kind: `traces of ${ratio}`, settings: { env } };
}

/** The same engine, with workers that speak the worker protocol and reach no database. */
export function httpPeer() {
  const [ours] = peers;
  const kind = "workers over HTTP, without a database";
  return { ...ours, id: "http", label: "over HTTP", kind, settings: { transport: "http" } };
}

export const peerIds = peers.map(({ id }) => id);

/** Installs the peers on first use; `node` is what everybody then runs on, ours as well. */
export function preparePeers(chosen, say) {
  const isMissing = ({ package: name }) =>
    name !== undefined && !existsSync(`${folder}node_modules/${name}/package.json`);
  if (chosen.some(isMissing)) {
    say("installing the peers into bench/peers/node_modules (once)");
    // Without scripts: nothing is downloaded but packages. Not `npm ci`, which refuses a lockfile
    // that lacks the native parts for other platforms, all of which are optional.
    const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...flags, "--prefix", folder], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  const node = nodeOfPeers() ?? process.execPath;
  return chosen.map((peer) => {
    if (peer.tool === undefined) return { ...peer, node, version: versionOf(peer) };
    const { missing, ...tool } = prepareTool(peer.tool);
    return { ...peer, node, tool, missing, version: tool.version };
  });
}

/** Some peers need a newer Node than ours; one Node for all keeps the comparison about engines. */
function nodeOfPeers() {
  const file = `${folder}node_modules/node-${process.platform}-${process.arch}/bin/node`;
  return existsSync(file) ? file : undefined;
}

function versionOf(peer) {
  const require = createRequire(import.meta.url);
  if (peer.package === undefined) return require("../../package.json").version;
  return require(`${folder}node_modules/${peer.package}/package.json`).version;
}

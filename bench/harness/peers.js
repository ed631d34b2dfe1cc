/** Who takes part, in which workloads, and where a peer gets another size than the others. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = (file) => new URL(`../${file}`, import.meta.url).href;
const folder = fileURLToPath(new URL("../peers/", import.meta.url));
const plain = [{}];

export const peers = [
  {
    id: "ours",
    label: "rmhdagmaster",
    module: here("ours/adapter.js"),
    workloads: {
      W1: plain,
      W2: plain,
      W3: plain,
      W4: plain,
      W5: [{ note: "100 jobs" }],
      W6: plain,
    },
  },
  {
    id: "graphile",
    label: "graphile-worker",
    package: "graphile-worker",
    kind: "a raw queue with no dependencies and no history",
    module: here("peers/graphile/adapter.js"),
    workloads: { W1: plain, W5: [{ note: "a raw queue" }] },
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
      W3: [{ repeat: 1 }],
      W4: plain,
      W5: [{ note: "a raw queue" }],
    },
  },
  {
    id: "dbos",
    label: "DBOS in-process",
    package: "@dbos-inc/dbos-sdk",
    kind: "a library, steps run in the submitter",
    module: here("peers/dbos/in-process.js"),
    workloads: { W1: plain, W2: plain, W3: [{ repeat: 1 }], W4: plain },
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
      // A fan-out is serial in it: ten thousand take ten times as long as one thousand.
      W3: [{ most: 1000, repeat: 1 }],
      W4: plain,
      // It has no bulk interface: filling 100,000 would take half a minute, draining a whole one.
      W5: [{ size: 10_000 }],
    },
  },
  {
    id: "bullmq",
    label: "BullMQ on Redis",
    package: "bullmq",
    kind: "may lose a second of acknowledged work in a crash",
    redis: true,
    module: here("peers/bull/adapter.js"),
    workloads: { W1: plain, W2: plain, W3: plain, W4: plain, W5: plain },
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
  const others = chosen.some((peer) => peer.package !== undefined);
  if (others && !existsSync(`${folder}node_modules/.package-lock.json`)) {
    say("installing the peers into bench/peers/node_modules (once)");
    // Without scripts: nothing is downloaded but packages. Not `npm ci`, which refuses a lockfile
    // that lacks the native parts for other platforms, all of which are optional.
    const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...flags, "--prefix", folder], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  const node = nodeOfPeers() ?? process.execPath;
  return chosen.map((peer) => ({ ...peer, node, version: versionOf(peer) }));
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

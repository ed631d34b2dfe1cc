/**
 * `npm run bench:brokers`: W1 to W5 with each broker between our programs, one after the other within a
 * workload, and the brokers' own clients beside them. Service Bus is the tests' stand-in, which runs in
 * this process: its figures show what our side costs, and not what the service does. A run of some
 * workloads (`--only W1,W5`) or brokers (`--brokers rabbitmq`) keeps the other figures of the last run.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ServiceBusServer } from "../test/support/service-bus-server.js";
import { openAdmin } from "./harness/database.js";
import { measure } from "./harness/measure.js";
import { peers } from "./harness/peers.js";
import { cellsOf } from "./harness/plan.js";
import { startPostgres } from "./harness/postgres.js";
import { startRabbitmq } from "./harness/rabbitmq.js";
import { measureRabbitmq, measureServiceBus, median } from "./harness/raw-brokers.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { reportFigures } from "./report/platform.js";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "W1,W2,W3,W4,W5" },
    brokers: { type: "string", default: "postgres,rabbitmq,servicebus" },
  },
});
const only = values.only.split(",");
const say = (text) => process.stdout.write(`${text}\n`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

const folder = makeWorkFolder();
const server = await startPostgres(folder, say);
const admin = await openAdmin(server.url);
const rabbitmq = await startRabbitmq(folder);
if (rabbitmq === undefined) say("no RabbitMQ: its figures are left out");
const serviceBus = new ServiceBusServer();
await serviceBus.listen();

const [ours] = peers;
const withBroker = (id, env) => ({ ...ours, id, node: process.execPath, settings: { env } });
const chosen = values.brokers.split(",");
const brokers = [
  withBroker("postgres", {}),
  ...(rabbitmq === undefined
    ? []
    : [withBroker("rabbitmq", { BROKER: "rabbitmq", RABBITMQ_URL: rabbitmq.url })]),
  withBroker("servicebus", {
    BROKER: "servicebus",
    SERVICE_BUS_CONNECTION_STRING: serviceBus.connectionString,
  }),
].filter(({ id }) => chosen.includes(id));

const known = await knownFigures();
const figures = [];
try {
  const raw = await measureRaw();
  for (const cell of cellsOf({ only, quick: values.quick }, brokers)) {
    if (!["cold", undefined].includes(cell.variant)) continue;
    const result = await measure({
      ...{ admin, server, folder, cell, peer: cell.peer },
      settings: { workers: 1, concurrency: 100, ...cell.peer.settings },
    });
    const figure = toFigure(cell, result, raw[cell.peer.id]);
    const alone = [...figures, ...known].find(
      ({ what }) => what === figure.what.replace(cell.peer.id, "postgres"),
    );
    if (alone !== undefined && cell.peer.id !== "postgres") {
      figure.note = `${ratio(figure.value, alone.value)} × PostgreSQL alone${figure.note ?? ""}`;
    }
    figure.note = [figure.note, `${result.foreign.toFixed(1)} cores used by others`]
      .filter(Boolean)
      .join("; ");
    figures.push(figure);
    say(`${figure.what}: ${figure.value.toFixed(1)} ${figure.unit}; ${figure.note}`);
  }
  await reportFigures("brokers", {
    title: "Brokers",
    settings: "one orchestrator, one worker with 100 tasks at once; Service Bus is a stand-in",
    figures: merge(known, figures),
    whole: !values.quick,
  });
} finally {
  await admin.close();
  await server.stop();
  await rabbitmq?.stop();
  await serviceBus.close();
}
process.exit();

/** Those of the last whole run, which this one completes. */
async function knownFigures() {
  const file = new URL("results/brokers.json", import.meta.url);
  const text = await readFile(file, "utf8").catch(() => '{"figures":[]}');
  return JSON.parse(text).figures;
}

/** In the order of their names: the clients first, then by workload. */
function merge(before, measured) {
  const all = new Map([...before, ...measured].map((figure) => [figure.what, figure]));
  const order = ({ what }) => (what.startsWith("W") ? `1 ${what}` : `0 ${what}`);
  return [...all.values()].sort((a, b) => order(a).localeCompare(order(b)));
}

async function measureRaw() {
  const sizes = { rounds: 100, backlog: values.quick ? 2000 : 20_000 };
  const measured = {
    ...(rabbitmq &&
      chosen.includes("rabbitmq") && { rabbitmq: await measureRabbitmq(rabbitmq.url, sizes) }),
    ...(chosen.includes("servicebus") && {
      servicebus: await measureServiceBus(serviceBus.connectionString, sizes),
    }),
  };
  for (const [id, { p50, perSecond }] of Object.entries(measured)) {
    figures.push({ what: `${id}: its client, one message`, value: p50, unit: "ms" });
    figures.push({ what: `${id}: its client, a backlog`, value: perSecond, unit: "messages/s" });
  }
  return measured;
}

/** A hop of W2 and a job of W1 in milliseconds, all others in tasks a second. */
function toFigure({ peer, row, workload }, { tasks, wallMs, latencies }, raw) {
  const what = `${row.replace("@", " of ")}: ${peer.id}`;
  if (workload === "W1") {
    const value = median(latencies);
    const note = raw && `, ${ratio(value, raw.p50)} × its client`;
    return { what, value, unit: "ms", note };
  }
  if (workload === "W2") return { what, value: wallMs / tasks, unit: "ms a hop" };
  const value = (tasks / wallMs) * 1000;
  const note = raw && `, ${ratio(value, raw.perSecond)} × its client`;
  return { what, value, unit: "tasks/s", note };
}

function ratio(value, other) {
  return (value / other).toFixed(2);
}

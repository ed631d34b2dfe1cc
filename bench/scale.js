/**
 * `node bench/scale.js`: how far one PostgreSQL goes. A simulation of orchestrators that settle tasks
 * in transactions on one server, fed with what `npm run bench` and `bench:retention` measured: CPU of
 * the server and of the orchestrator for a task, WAL, bytes that a finished node leaves.
 *
 * An orchestrator takes what waits, decides for as long as one core needs for it, lets one backend
 * write it, and waits for a flush that all commits of that moment share. What it cannot show: locks,
 * and memory that is too small for the indexes in use.
 */
import { readFileSync } from "node:fs";

const read = (name) => JSON.parse(readFileSync(new URL(`results/${name}`, import.meta.url)));
const { results } = read("latest.json");
const years = read("retention.json");

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const measured = (row) => {
  const cells = results.filter((each) => each.peer === "ours" && each.row === row);
  const of = (pick) => median(cells.map(pick));
  return {
    storeMs: of(({ cpuByRole }) => cpuByRole.store),
    orchestratorMs: of(({ cpuByRole }) => cpuByRole.orchestrator),
    walBytes: of(({ walBytes }) => walBytes),
    perSecond: of(({ tasks, wallMs }) => (tasks / wallMs) * 1000),
  };
};

/** The most tasks of one transaction, and how long a flush of a good disk takes. */
const batch = 1000;
const flushMs = 1;

/** Simulates some seconds at an offered load; true if it keeps up. */
function keepsUp({ storeMs, orchestratorMs }, { cores, orchestrators, load }) {
  const seconds = 5;
  const backends = Array.from({ length: cores }, () => 0);
  const owners = Array.from({ length: orchestrators }, () => ({ freeAt: 0, settled: 0 }));
  let nextFlush = 0;
  for (;;) {
    const owner = owners.reduce((a, b) => (a.freeAt <= b.freeAt ? a : b));
    const now = owner.freeAt;
    if (now >= seconds * 1000) break;
    // Jobs are spread evenly, and each orchestrator settles its own.
    const arrived = Math.floor((load / orchestrators / 1000) * now);
    const waiting = Math.min(batch, arrived - owner.settled);
    if (waiting <= 0) {
      owner.freeAt = now + 1;
      continue;
    }
    const decided = now + waiting * orchestratorMs;
    const core = backends.indexOf(Math.min(...backends));
    const written = Math.max(decided, backends[core]) + waiting * storeMs;
    backends[core] = written;
    nextFlush = Math.max(nextFlush, written) + (written > nextFlush ? flushMs : 0);
    owner.freeAt = Math.max(written, nextFlush);
    owner.settled += waiting;
  }
  const settled = owners.reduce((sum, owner) => sum + owner.settled, 0);
  return settled >= 0.95 * load * seconds;
}

function most(task, site) {
  let low = 0;
  let high = 1_000_000;
  while (high - low > 50) {
    const load = (low + high) / 2;
    if (keepsUp(task, { ...site, load })) low = load;
    else high = load;
  }
  return Math.round(low / 100) * 100;
}

const say = (text) => process.stdout.write(`${text}\n`);
const thousands = (value) => Math.round(value).toLocaleString("en-US");
const shapes = { "wide fan-outs": measured("W3@10000"), "many small jobs": measured("W4@1000") };

say("| cores of the server | orchestrators | wide fan-outs | many small jobs | WAL of these |");
say("| ---: | ---: | ---: | ---: | ---: |");
for (const [cores, orchestrators] of [
  [2, 1],
  [4, 2],
  [8, 4],
  [16, 8],
  [32, 16],
]) {
  const site = { cores, orchestrators };
  const [wide, small] = Object.values(shapes).map((task) => most(task, site));
  const wal = (small * shapes["many small jobs"].walBytes) / 2 ** 20;
  say(
    `| ${cores} | ${orchestrators} | ${thousands(wide)}/s | ${thousands(small)}/s | ${thousands(wal)} MiB/s |`,
  );
}
for (const [name, task] of Object.entries(shapes)) {
  say(
    `${name}: measured ${thousands(task.perSecond)}/s with everything on 2 cores; for a task ` +
      `${task.storeMs.toFixed(3)} ms of the server, ${task.orchestratorMs.toFixed(3)} ms of the ` +
      `orchestrator, ${thousands(task.walBytes)} bytes of WAL`,
  );
}
const bytes = years.before.reduce((sum, table) => sum + table.bytes, 0) / years.nodes;
say(`a finished node takes ${thousands(bytes)} bytes with its result, events and indexes`);
say("| tasks a second, all day | a day | kept 30 days | kept 1 year |");
say("| ---: | ---: | ---: | ---: |");
for (const rate of [10, 100, 1000]) {
  const day = rate * 86_400;
  const size = (days) => `${thousands((day * days * bytes) / 2 ** 30)} GiB`;
  say(`| ${rate} | ${thousands(day)} nodes | ${size(30)} | ${size(365)} |`);
}

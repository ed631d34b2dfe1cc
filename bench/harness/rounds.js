/** Runs all cells, round by round: what disturbs one peer for a while disturbs its neighbours too. */
import { fillHistory } from "../ours/fill-history.js";
import { analyse } from "./database.js";
import { measure } from "./measure.js";
import { cellsOf, growthCellsOf } from "./plan.js";

/** Growth is about ours alone and takes long, so its later rounds run only while there is time. */
const budgetMs = 30 * 60_000;
/** Cores that others used while a cell ran: above this it is measured again. */
const mostForeign = 0.25;
const mostRepeats = 2;

/** `servers` has one for `usual` and perhaps one for `older`: { admin, server } each. */
export async function runRounds({ options, peers, servers, redis, folder, onResult, say }) {
  const { settings } = options;
  const measureCell = (cell) =>
    measure({
      ...servers[cell.server ?? "usual"],
      redis,
      folder,
      peer: cell.peer,
      cell,
      settings: { ...settings, ...cell.peer.settings },
    });
  const ours = peers.find(({ id }) => id === "ours");
  const histories = new Set();
  const results = [];

  const began = performance.now();
  for (let round = 1; round <= options.rounds; round++) {
    const plan = { ...options, older: servers.older !== undefined };
    for (const cell of cellsOf(plan, peers, round)) await run(round, cell);
  }
  for (let round = 1; round <= options.rounds; round++) {
    const roundBegan = performance.now();
    for (const cell of growthCellsOf(options, ours)) await run(round, cell);
    const now = performance.now();
    if (now + (now - roundBegan) > began + budgetMs) break;
  }
  return results;

  async function run(round, cell) {
    const cellBegan = performance.now();
    let result = await runOnce(cell);
    let repeats = 0;
    while (options.isWhole && result.foreign > mostForeign && repeats < mostRepeats && isEarly()) {
      repeats++;
      const again = await runOnce(cell);
      if (again.foreign < result.foreign) result = again;
    }
    // A peer that runs once only is not waited for again.
    if (result.error && cell.peer.once) cell.peer.missing = result.error;
    const seconds = (performance.now() - cellBegan) / 1000;
    results.push({ round, ...describe(cell), ...result, seconds, ...(repeats > 0 && { repeats }) });
    onResult(results.at(-1));
  }

  function isEarly() {
    return performance.now() < began + budgetMs;
  }

  /** A cell that fails is a result as well: the others are still worth having. */
  async function runOnce(cell) {
    try {
      if (cell.peer.missing !== undefined) throw new Error(cell.peer.missing);
      if (cell.peer.redis && redis === undefined) throw new Error("no Redis");
      const database = cell.history && (await historyOf(cell));
      return await measureCell({ ...cell, database });
    } catch (error) {
      return { error: error.message.split("\n")[0], stack: error.message };
    }
  }

  async function historyOf(cell) {
    const name = `bench_history_${cell.history}`;
    if (histories.has(name)) return name;
    say(`filling a database with ${cell.history.toLocaleString("en-US")} finished nodes`);
    const { admin } = servers.usual;
    const { databaseUrl } = await admin.create(name);
    await measureCell({ ...cell, database: name, repeat: 1 });
    await fillHistory(databaseUrl, cell.history);
    // Otherwise autovacuum would begin in the middle of the first round.
    await analyse(databaseUrl);
    await admin.run("CHECKPOINT");
    histories.add(name);
    return name;
  }
}

function describe({ peer, row, series, n, workload, size, note, variant }) {
  return { peer: peer.id, row, series, n, workload, size, note, variant };
}

/** Runs all cells, round by round: what disturbs one peer for a while disturbs its neighbours too. */
import { fillHistory } from "../ours/fill-history.js";
import { measure } from "./measure.js";
import { cellsOf, growthCellsOf } from "./plan.js";

/** Growth is about ours alone and takes long, so its later rounds run only while there is time. */
const budgetMs = 13 * 60_000;

export async function runRounds({ options, peers, admin, server, redis, folder, ...callbacks }) {
  const { onResult, say } = callbacks;
  const { settings } = options;
  const measureCell = (cell) =>
    measure({
      admin,
      server,
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
    for (const cell of cellsOf(options, peers)) await run(round, cell);
  }
  for (let round = 1; round <= options.rounds; round++) {
    const roundBegan = performance.now();
    for (const cell of growthCellsOf(options, ours)) await run(round, cell);
    const now = performance.now();
    if (now + (now - roundBegan) > began + budgetMs) break;
  }
  return results;

  /** A cell that fails is a result as well: the others are still worth having. */
  async function run(round, cell) {
    const { peer, row, series, n, workload, size, note } = cell;
    const what = { round, peer: peer.id, row, series, n, workload, size, note };
    const cellBegan = performance.now();
    try {
      if (peer.redis && redis === undefined) throw new Error("no Redis");
      const database = cell.history && (await historyOf(cell));
      results.push({ ...what, ...(await measureCell({ ...cell, database })) });
    } catch (error) {
      results.push({ ...what, error: error.message.split("\n")[0], stack: error.message });
    }
    results.at(-1).seconds = (performance.now() - cellBegan) / 1000;
    onResult(results.at(-1));
  }

  async function historyOf(cell) {
    const name = `bench_history_${cell.history}`;
    if (histories.has(name)) return name;
    say(`filling a database with ${cell.history.toLocaleString("en-US")} finished nodes`);
    const { databaseUrl } = await admin.create(name);
    await measureCell({ ...cell, database: name, repeat: 1 });
    await fillHistory(databaseUrl, cell.history);
    await admin.run("CHECKPOINT");
    histories.add(name);
    return name;
  }
}

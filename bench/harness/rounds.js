/** Runs all cells, round by round: what disturbs one peer for a while disturbs its neighbours too. */
import { fillHistory } from "../ours/fill-history.js";
import { measure } from "./measure.js";
import { cellsOf, growthCellsOf } from "./plan.js";

/** A cell that fails is a result as well: the others are still worth having. */
export async function runRounds({ options, peers, admin, server, redis, onResult, say }) {
  const { settings } = options;
  const run = (cell) => measure({ admin, server, redis, peer: cell.peer, cell, settings });
  const histories = new Map();
  const ours = peers.find(({ id }) => id === "ours");
  const results = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const cell of [...cellsOf(options, peers), ...growthCellsOf(options, ours)]) {
      const { peer, row, series, n, workload, size, note } = cell;
      const what = { round, peer: peer.id, row, series, n, workload, size, note };
      if (peer.redis && redis === undefined) {
        results.push({ ...what, error: "no Redis" });
        continue;
      }
      try {
        const database = cell.history && (await historyOf(cell));
        results.push({ ...what, ...(await run({ ...cell, database })) });
      } catch (error) {
        results.push({ ...what, error: error.message.split("\n")[0], stack: error.message });
      }
      onResult(results.at(-1));
    }
  }
  return results;

  async function historyOf(cell) {
    const name = `bench_history_${cell.history}`;
    if (histories.has(name)) return name;
    say(`filling a database with ${cell.history.toLocaleString("en-US")} finished nodes`);
    const { databaseUrl } = await admin.create(name);
    await run({ ...cell, database: name, repeat: 1 });
    await fillHistory(databaseUrl, cell.history);
    await admin.run("CHECKPOINT");
    histories.set(name, true);
    return name;
  }
}

/** `npm run bench`: our engine and its peers, side by side on one server. See README.md. */
import { openAdmin } from "./harness/database.js";
import { measure } from "./harness/measure.js";
import { help, readOptions } from "./harness/options.js";
import { peers as allPeers } from "./harness/peers.js";
import { cellsOf } from "./harness/plan.js";
import { startPostgres } from "./harness/postgres.js";
import { progressLine, statementLines } from "./report/terminal.js";

const options = readOptions(process.argv.slice(2));
const say = (text) => (options.json ? process.stderr : process.stdout).write(`${text}\n`);

if (options.help) say(help);
else await bench();

async function bench() {
  const peers = allPeers.filter(({ id }) => options.peers.includes(id));
  const server = await startPostgres(say);
  const admin = await openAdmin(server.url);
  const results = [];
  try {
    for (let round = 1; round <= options.rounds; round++) {
      for (const cell of cellsOf(options, peers)) {
        const { peer } = cell;
        const { top, ...result } = await measure({
          ...{ admin, server, peer, cell, settings: options.settings },
        });
        const { row, workload, size, note } = cell;
        results.push({ round, peer: peer.id, row, workload, size, note, ...result });
        say(progressLine(results.at(-1)));
        if (top !== undefined) say(statementLines(top, result.tasks));
      }
    }
  } finally {
    await admin.close();
    await server.stop();
  }
}

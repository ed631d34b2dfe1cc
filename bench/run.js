/** `npm run bench`: our engine and its peers, side by side on one server. See README.md. */
import { openAdmin } from "./harness/database.js";
import { describeMachine } from "./harness/machine.js";
import { help, readOptions } from "./harness/options.js";
import {
  checkoutPeer,
  httpPeer,
  peers as allPeers,
  preparePeers,
  tracedPeer,
} from "./harness/peers.js";
import { startOlderPostgres, startPostgres } from "./harness/postgres.js";
import { startRedis } from "./harness/redis.js";
import { startTraceSink } from "./harness/trace-sink.js";
import { runRounds } from "./harness/rounds.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { summarise } from "./report/summarise.js";
import { progressLine, statementLines, summaryTable } from "./report/terminal.js";
import { writeResults } from "./report/write-results.js";

// With an exit of our own, so that its handlers stop the servers.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(help);
  else await bench(options);
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
}

async function bench(options) {
  const say = (text) => (options.json ? process.stderr : process.stdout).write(`${text}\n`);
  const sink = options.traces === undefined ? undefined : await startTraceSink();
  const peers = preparePeers(
    [
      ...allPeers.filter(({ id }) => options.peers.includes(id)),
      ...(options.http ? [httpPeer()] : []),
      ...(options.before === undefined ? [] : [checkoutPeer(options.before)]),
      ...(sink === undefined ? [] : [tracedPeer(options.traces, sink.url)]),
    ],
    say,
  );
  const began = performance.now();
  const folder = makeWorkFolder();
  const server = await startPostgres(folder, say);
  const older = options.older ? await startOlderPostgres(folder, say) : undefined;
  const redis = peers.some((peer) => peer.redis) ? await startRedis(folder, say) : undefined;
  const admin = await openAdmin(server.url);
  const olderAdmin = older && (await openAdmin(older.url));
  try {
    const machine = await describeMachine({ admin, olderAdmin, redis, peers });
    const servers = {
      usual: { admin, server },
      ...(older && { older: { admin: olderAdmin, server: older } }),
    };
    const parts = { options, peers, servers, redis, folder };
    const results = await runRounds({ ...parts, say, onResult });
    const seconds = (performance.now() - began) / 1000;
    const summary = summarise({ options, peers, machine, seconds, results });
    say(summaryTable(summary));
    if (options.json) process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
    if (options.isWhole) say(await writeResults(summary));
    if (results.some(({ peer, error }) => peer === "ours" && error)) process.exitCode = 1;
  } finally {
    await admin.close();
    await olderAdmin?.close();
    await server.stop();
    await older?.stop();
    await redis?.stop();
    if (sink !== undefined) say(`${sink.close()} requests with spans were received`);
  }

  function onResult(result) {
    say(progressLine(result));
    if (result.top !== undefined) say(statementLines(result.top, result.tasks));
    delete result.top;
  }
}

import { execFileSync } from "node:child_process";
import { cpus, release, totalmem } from "node:os";
import { readFileSync } from "node:fs";

const shown = ["fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size"];

/** What a reader needs to know before comparing these numbers with others. */
export async function describeMachine({ admin, olderAdmin, redis, peers }) {
  const settings = {};
  for (const name of shown) settings[name] = (await admin.run(`SHOW ${name}`))[0][name];
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `Linux ${release().split("-")[0]}`,
    node: execFileSync(peers[0].node, ["--version"], { encoding: "utf8" }).trim().slice(1),
    postgres: await admin.version(),
    older: await olderAdmin?.version(),
    settings,
    redis: redis?.version,
    engines: peers.map(({ label, version, kind }) => ({ label, version, kind })),
    loadAtStart: Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]),
  };
}

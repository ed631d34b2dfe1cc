/** CPU time by process, from /proc: kernel ticks of 10 ms, so short runs are rounded. */
import { readFileSync, readdirSync } from "node:fs";

const msPerTick = 10;

/** pid → { parent, ms, deadChildrenMs } of every process of the machine. */
export function readProcesses() {
  const found = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readOrNothing(`/proc/${name}/stat`);
    // The program's name stands in brackets and may hold blanks.
    const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields === undefined) continue;
    const ticks = (from, to) =>
      fields.slice(from, to).reduce((sum, text) => sum + Number(text) * msPerTick, 0);
    found.set(Number(name), {
      parent: Number(fields[1]),
      ms: ticks(11, 13),
      deadChildrenMs: ticks(13, 15),
    });
  }
  return found;
}

/** The process and all its living descendants. */
export function treeOf(processes, root) {
  const tree = new Set([root]);
  for (let grown = true; grown;) {
    grown = false;
    for (const [pid, { parent }] of processes) {
      if (tree.has(pid) || !tree.has(parent)) continue;
      tree.add(pid);
      grown = true;
    }
  }
  return [...tree].filter((pid) => processes.has(pid));
}

/** What the whole machine has used, in ms of one core. */
export function machineMs() {
  const [, ...ticks] = (readOrNothing("/proc/stat") ?? "cpu 0").split("\n")[0].split(/\s+/);
  const [user, nice, system, , , irq, softirq, steal] = ticks.map(Number);
  return (user + nice + system + irq + softirq + (steal || 0)) * msPerTick;
}

function readOrNothing(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

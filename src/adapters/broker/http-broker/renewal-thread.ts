/**
 * Renews the leases of a worker over HTTP. Also the worker's heartbeat: with no lease it renews none,
 * and the orchestrator knows that the worker lives.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { FromThread, HttpRenewalOptions, ToThread } from "./renewal.ts";

const { url, token, workerId, leaseMs } = workerData as HttpRenewalOptions;
const idleMs = 10_000;
const progressMs = 500;

const held = new Set<string>();
const progress = new Map<string, { percent: number; message: string | null }>();
let timer: NodeJS.Timeout | undefined;
let dueAt = 0;
let isRunning = false;
let isStopped = false;

parentPort?.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "hold":
      held.add(message.lease);
      wakeIn(leaseMs / 3);
      return;
    case "drop":
      held.delete(message.lease);
      progress.delete(message.lease);
      return;
    case "progress":
      progress.set(message.lease, { percent: message.percent, message: message.message });
      wakeIn(progressMs);
      return;
    case "stop":
      isStopped = true;
      clearTimeout(timer);
      parentPort?.close();
  }
});
wakeIn(idleMs);

/** Renews at this time, unless that is already planned for an earlier one. */
function wakeIn(milliseconds: number): void {
  const at = performance.now() + milliseconds;
  if (isRunning || isStopped || (timer !== undefined && dueAt <= at)) return;
  clearTimeout(timer);
  dueAt = at;
  timer = setTimeout(() => {
    timer = undefined;
    isRunning = true;
    void renew().finally(() => {
      isRunning = false;
      wakeIn(progress.size > 0 ? progressMs : held.size > 0 ? leaseMs / 3 : idleMs);
    });
  }, milliseconds);
}

function post(message: FromThread): void {
  parentPort?.postMessage(message);
}

async function renew(): Promise<void> {
  const leases = [...held].slice(0, 1000);
  const sent = [...progress].slice(0, 1000);
  for (const [lease] of sent) progress.delete(lease);
  const body = {
    worker_id: workerId,
    leases,
    progress: sent.map(([lease, { percent, message }]) => ({
      lease,
      percent,
      message: message?.slice(0, 1024) ?? null,
    })),
    busy: held.size,
  };
  try {
    const answer = await fetch(`${url}/api/v1/worker/renew`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(Math.max(1000, leaseMs / 3)),
    });
    if (!answer.ok) throw new Error(`The orchestrator answered ${answer.status}.`);
    const { cancelled, lost } = (await answer.json()) as { cancelled: string[]; lost: string[] };
    for (const lease of cancelled) post({ kind: "ended", lease, cause: "cancelled" });
    for (const lease of lost) if (held.delete(lease)) post({ kind: "ended", lease, cause: "lost" });
  } catch (error) {
    post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    await new Promise((resolve) => setTimeout(resolve, Math.min(1000, leaseMs / 10)));
  }
}

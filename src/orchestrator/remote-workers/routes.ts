import type { Broker, RemoteLeases } from "../../adapters/broker/broker.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { readNewestCheckpoints } from "../../adapters/postgres/queries/history.ts";
import { saveHeldCheckpoint } from "../../adapters/postgres/repositories/checkpoints.ts";
import { insertTaskLogs } from "../../adapters/postgres/repositories/task-logs.ts";
import { beatWorker, removeWorker } from "../../adapters/postgres/repositories/workers.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { hideSecrets } from "../../adapters/runtime/redact.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { remoteWorkerContracts } from "../../core/api/remote-workers.ts";
import { Problem } from "../../core/errors.ts";
import type { TaskMessage } from "../../core/messages.ts";
import { cleanText } from "../../core/model/output.ts";
import { createWorkerLookup, holderOf } from "./find-worker.ts";
import { registerWorker } from "./register-worker.ts";
import { reportTasks } from "./report-tasks.ts";
import { signAddress } from "./sign-address.ts";

export interface RemoteWorkerRouteDeps {
  readonly db: Database;
  readonly broker: Pick<Broker, "remoteLeases">;
  readonly storage: Storage;
  readonly remoteWorkers: RemoteWorkerSettings;
}

export interface RemoteWorkerSettings {
  readonly mayShadow: boolean;
  readonly jobQueue: string;
  readonly leaseSeconds: number;
}

/** A worker's row is written at most so often, however many calls it makes. */
const heartbeatMs = 5000;

/** Workers over HTTP: each route is a thin front of the broker's remote leases. */
export function remoteWorkerRoutes({
  db,
  broker,
  storage,
  remoteWorkers,
}: RemoteWorkerRouteDeps): Handlers<typeof remoteWorkerContracts> {
  const workers = createWorkerLookup(db);
  const beats = new Map<string, number>();

  function requireLeases(): RemoteLeases {
    if (broker.remoteLeases !== undefined) return broker.remoteLeases;
    throw new Problem("UNAVAILABLE", "This broker has no leases for workers over HTTP.");
  }

  /** Shows that the worker lives. */
  async function beat(holder: string, busy?: number): Promise<void> {
    const now = performance.now();
    if (now - (beats.get(holder) ?? -Infinity) < heartbeatMs) return;
    beats.set(holder, now);
    await beatWorker(db, holder, busy);
  }

  return {
    async registerWorker({ body, caller }) {
      const holder = await registerWorker({ db, ...remoteWorkers }, caller, body);
      workers.forget(holder);
      return {
        worker: holder,
        heartbeat_seconds: 15,
        lease_seconds: remoteWorkers.leaseSeconds,
      };
    },

    async leaseTasks({ body, caller, signal }) {
      const leases = requireLeases();
      const worker = await workers.find(caller, body.worker_id);
      const queues = body.queues ?? worker.queues;
      const foreign = queues.filter((queue) => !worker.queues.includes(queue));
      if (foreign.length > 0) {
        const names = foreign.map((queue) => `"${queue}"`).join(", ");
        throw new Problem("FORBIDDEN", `This worker is not registered for ${names}.`);
      }
      const asked = body.handlers ?? worker.handlers;
      await beat(worker.holder);
      const messages = await leases.take(
        {
          holder: worker.holder,
          queues,
          accepts: asked.filter((handler) => worker.handlers.includes(handler)),
        },
        { limit: body.max, waitMs: body.wait_seconds * 1000, signal },
      );
      if (messages.length > 0) reach("remote.leased");
      if (signal.aborted && messages.length > 0) {
        // The caller is gone: no answer can bring it the leases.
        await leases.release(
          worker.holder,
          messages.map(({ lease }) => lease),
        );
      }
      const tasks = messages.map((message) => ({
        ...message,
        task: JSON.parse(message.body) as TaskMessage,
      }));
      const checkpoints = await readNewestCheckpoints(
        db,
        tasks.filter(({ task, isFirst }) => task.attempt > 0 || !isFirst).map(({ task }) => task),
      );
      return {
        tasks: tasks.map(({ lease, leaseMs, deliveryCount, task }) => ({
          ...task,
          lease,
          lease_seconds: leaseMs / 1000,
          delivery_count: deliveryCount,
          checkpoint: checkpoints.get(`${task.job_id} ${task.node_id}`) ?? null,
        })),
      };
    },

    async renewLeases({ body, caller }) {
      const leases = requireLeases();
      const { holder } = await workers.find(caller, body.worker_id);
      await beat(holder, body.busy ?? body.leases.length);
      const states = await leases.renew(holder, body.leases);
      if (body.progress.length > 0) {
        await leases.progress(
          holder,
          body.progress.map(({ lease, percent, message }) => ({
            lease,
            percent,
            message: message == null ? null : hideSecrets(cleanText(message)),
          })),
        );
      }
      const those = (state: (typeof states)[number]) =>
        body.leases.filter((_, index) => states[index] === state);
      return { held: those("held"), cancelled: those("cancelled"), lost: those("lost") };
    },

    async reportTasks({ body, caller }) {
      const { holder } = await workers.find(caller, body.worker_id);
      const accepted = await reportTasks(
        { db, leases: requireLeases(), storage },
        holder,
        body.results,
      );
      const given = body.results.map(({ lease }) => lease);
      return {
        accepted: given.filter((lease) => accepted.has(lease)),
        lost: given.filter((lease) => !accepted.has(lease)),
      };
    },

    async saveTaskCheckpoint({ body: { worker_id, lease, phase, data }, caller }) {
      const leases = requireLeases();
      const holder = holderOf(caller, worker_id);
      const seq = await db.transaction(async (tx) => {
        const held = await leases.hold(tx, holder, lease);
        if (held === undefined) return undefined;
        const { task_id, job_id, node_id } = JSON.parse(held.body) as TaskMessage;
        const text = JSON.stringify(data);
        return saveHeldCheckpoint(tx, { task_id, job_id, node_id, phase, data: text });
      });
      reach("remote.checkpoint_saved");
      if (seq !== undefined) return { seq };
      throw new Problem("STALE_ATTEMPT", `This worker does not hold the lease ${lease}.`);
    },

    async logTasks({ body: { worker_id, lines }, caller }) {
      const holder = holderOf(caller, worker_id);
      const tasks = await requireLeases().read(holder, [
        ...new Set(lines.map(({ lease }) => lease)),
      ]);
      const rows = lines.flatMap(({ lease, level, message, data }) => {
        const task = tasks.get(lease);
        if (task === undefined) return [];
        const text = data == null ? null : hideSecrets(JSON.stringify(data));
        return [{ ...task, level, message: hideSecrets(cleanText(message)), data: text }];
      });
      if (rows.length > 0) await insertTaskLogs(db, rows);
      return { stored: rows.length };
    },

    async releaseTasks({ body: { worker_id, leases, leave }, caller }) {
      const holder = holderOf(caller, worker_id);
      const settled = await requireLeases().release(holder, leases);
      if (leave) {
        await removeWorker(db, holder);
        workers.forget(holder);
      }
      const those = (answer: string) => leases.filter((_, index) => settled[index] === answer);
      return { released: those("ok"), lost: those("lost") };
    },

    async signAddress(request) {
      const { worker_id, ...wanted } = request.body;
      const holder = holderOf(request.caller, worker_id);
      return signAddress({ db, leases: requireLeases(), storage }, holder, wanted, request);
    },
  };
}

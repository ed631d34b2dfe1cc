import type { Caller } from "../../adapters/http/handler.ts";
import { findRegisteredWorker } from "../../adapters/postgres/queries/handlers.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { Problem } from "../../core/errors.ts";

/** A registered worker, as far as the token of this call reaches. */
export interface RemoteWorker {
  /** Its row in the table of workers, and the holder of its leases. */
  readonly holder: string;
  readonly queues: readonly string[];
  readonly handlers: readonly string[];
}

export interface WorkerLookup {
  /** Throws WORKER_NOT_REGISTERED, whose remedy is to register again. */
  find(caller: Caller | undefined, workerId: string): Promise<RemoteWorker>;
  /** Another registration may count. */
  forget(holder: string): void;
}

/** How long a registration is used without asking the database; other orchestrators may change it. */
const keptMs = 2000;

/** With the token's name, so that no token can act for a worker of another. */
export function holderOf(caller: Caller | undefined, workerId: string): string {
  return `${caller?.name ?? "anyone"}:${workerId}`;
}

export function createWorkerLookup(db: Database): WorkerLookup {
  const known = new Map<string, { readonly worker: RemoteWorker; readonly until: number }>();

  async function read(holder: string): Promise<RemoteWorker> {
    const kept = known.get(holder);
    if (kept !== undefined && kept.until > performance.now()) return kept.worker;
    const found = await findRegisteredWorker(db, holder);
    if (found === undefined) {
      known.delete(holder);
      throw new Problem(
        "WORKER_NOT_REGISTERED",
        `No worker "${holder}" is registered: POST /api/v1/worker/register first.`,
      );
    }
    const worker = { holder, ...found };
    known.set(holder, { worker, until: performance.now() + keptMs });
    return worker;
  }

  return {
    async find(caller, workerId) {
      const worker = await read(holderOf(caller, workerId));
      const { queues, handlers } = caller?.confined ?? { queues: null, handlers: null };
      // The token may have been confined further since the registration.
      return {
        holder: worker.holder,
        queues: worker.queues.filter((queue) => queues?.includes(queue) ?? true),
        handlers: worker.handlers.filter((handler) => handlers?.includes(handler) ?? true),
      };
    },
    forget(holder) {
      known.delete(holder);
    },
  };
}

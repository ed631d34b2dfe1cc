import type { Broker, QueueSpec } from "../../adapters/broker/broker.ts";
import { listContracts, listServedQueues } from "../../adapters/postgres/queries/handlers.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import type { ContractData } from "../../core/handlers/contract-data.ts";
import type { HandlerContract } from "../../core/handlers/index.ts";

export interface HandlerCatalogue {
  /** `refresh` changes the map in place, so that the next compilation of a workflow uses it. */
  readonly handlers: ReadonlyMap<string, HandlerContract>;
  readonly queues: ReadonlySet<string>;
  /** False while no live worker offers anything: unknown handlers may come with the first. */
  hasWorkers(): boolean;
  /** Reads what workers registered. Answers true if handlers or queues are others than before. */
  refresh(): Promise<boolean>;
}

export interface CatalogueDeps {
  readonly db: Queryable;
  readonly broker: Pick<Broker, "ensureQueue">;
  readonly log: Logger;
  readonly shipped: ReadonlyMap<string, HandlerContract>;
  readonly declaredQueues: readonly string[];
  /** Never a queue of tasks, whatever a worker says. */
  readonly jobQueue: string;
  readonly queueSpec: QueueSpec;
}

/**
 * The handlers and queues that a workflow may name: those that ship and are declared, and those that
 * workers registered. A shipped handler keeps its own contract. Of several contracts of one name the
 * first of `listContracts` counts: the newest that a live worker offers.
 */
export function createHandlerCatalogue(deps: CatalogueDeps): HandlerCatalogue {
  const handlers = new Map(deps.shipped);
  const queues = new Set(deps.declaredQueues);
  /** By contract hash, so that a contract is compiled once. */
  let compiled = new Map<string, HandlerContract | undefined>();
  let mark = "";
  let hasWorkers = false;
  let last: Promise<unknown> = Promise.resolve();

  async function read(): Promise<boolean> {
    const [rows, served] = await Promise.all([listContracts(deps.db), listServedQueues(deps.db)]);
    const kept = new Map<string, HandlerContract | undefined>();
    const chosen = new Map<string, HandlerContract>();
    const hashes: string[] = [];
    for (const { contract, contract_hash } of rows) {
      if (handlers.has(contract.name) && deps.shipped.has(contract.name)) continue;
      const made = compiled.has(contract_hash)
        ? compiled.get(contract_hash)
        : await tryContract(contract, deps.log);
      kept.set(contract_hash, made);
      if (made === undefined || chosen.has(contract.name)) continue;
      chosen.set(contract.name, made);
      hashes.push(contract_hash);
    }
    compiled = kept;
    const named = [...served, ...[...chosen.values()].map(({ queue }) => queue)];
    const wanted = new Set(named.filter((queue) => queue !== deps.jobQueue));
    for (const queue of wanted) {
      if (queues.has(queue)) continue;
      await deps.broker.ensureQueue(queue, deps.queueSpec);
      // Never removed: a message may wait in it.
      queues.add(queue);
    }
    hasWorkers = rows.some(({ offered_by }) => offered_by.length > 0);
    const now = JSON.stringify([hashes, [...queues].sort(), hasWorkers]);
    const changed = now !== mark;
    mark = now;
    for (const name of [...handlers.keys()]) {
      if (!deps.shipped.has(name) && !chosen.has(name)) handlers.delete(name);
    }
    for (const [name, contract] of chosen) handlers.set(name, contract);
    return changed;
  }

  return {
    handlers,
    queues,
    hasWorkers: () => hasWorkers,
    // One after the other, so that an older reading never replaces a newer one.
    refresh: () => {
      const next = last.catch(() => undefined).then(read);
      last = next;
      return next;
    },
  };
}

/** A schema that this release cannot read must not hide the other handlers. */
async function tryContract(data: ContractData, log: Logger): Promise<HandlerContract | undefined> {
  try {
    // Loaded with the first contract from outside: most sites have none.
    const { toContract } = await import("../../adapters/json-schema/to-contract.ts");
    return toContract(data);
  } catch (err) {
    log.warn({ err, handler: data.name }, "a registered contract cannot be used");
    return undefined;
  }
}

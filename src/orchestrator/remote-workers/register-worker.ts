import { BadSchema } from "../../adapters/json-schema/check-schema.ts";
import { toContract } from "../../adapters/json-schema/to-contract.ts";
import type { Caller } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { writeOffers } from "../../adapters/postgres/repositories/handlers.ts";
import { writeWorkerHeartbeat } from "../../adapters/postgres/repositories/workers.ts";
import { Problem } from "../../core/errors.ts";
import type { ContractData } from "../../core/handlers/contract-data.ts";
import { describeContract, whyReserved } from "../../core/handlers/contract-data.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { queueFor } from "../../core/queues.ts";
import { holderOf } from "./find-worker.ts";

export interface Registration {
  readonly worker_id: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly handlers: readonly ContractData[];
}

export interface RegisterDeps {
  readonly db: Database;
  /** The operator lets workers offer handlers under reserved names. */
  readonly mayShadow: boolean;
  readonly jobQueue: string;
}

/** Checks a registration whole, and writes the worker's row and offers in one transaction. */
export async function registerWorker(
  deps: RegisterDeps,
  caller: Caller | undefined,
  registration: Registration,
): Promise<string> {
  const { worker_id, handlers: given, ...row } = registration;
  const handlers = placeHandlers(caller, registration);
  checkConfined(caller, { queues: row.queues, handlers }, deps.jobQueue);
  checkNames(given);
  for (const [index, contract] of given.entries()) {
    checkContract(contract, index, deps.mayShadow);
  }
  const holder = holderOf(caller, worker_id);
  await deps.db.transaction(async (tx) => {
    await writeWorkerHeartbeat(tx, { ...row, worker_id: holder, busy: 0, gdal: null });
    await writeOffers(tx, holder, handlers);
  });
  return holder;
}

/**
 * A contract that names no queue has the general one. Where the token does not reach that, tasks of
 * the handler go to the worker's first queue instead.
 */
function placeHandlers(
  caller: Caller | undefined,
  { queues, handlers }: Registration,
): readonly ContractData[] {
  const reached = caller?.confined?.queues ?? undefined;
  const [first] = queues;
  if (reached === undefined || reached.includes(queueFor.general) || first === undefined) {
    return handlers;
  }
  return handlers.map((contract) =>
    contract.queue === queueFor.general && !isShipped(contract)
      ? { ...contract, queue: first }
      : contract,
  );
}

/** Tasks that name no queue follow the contract's, so a token names none that it does not reach. */
function checkConfined(
  caller: Caller | undefined,
  { queues, handlers }: Pick<Registration, "queues" | "handlers">,
  jobQueue: string,
): void {
  const confined = caller?.confined;
  const isOutside = (queue: string) =>
    queue === jobQueue || !(confined?.queues?.includes(queue) ?? true);
  const refused = [
    ...queues.filter(isOutside),
    ...handlers
      .filter((contract) => isOutside(contract.queue) && !isShipped(contract))
      .map(({ queue }) => queue),
    ...handlers
      .map(({ name }) => name)
      .filter((name) => !(confined?.handlers?.includes(name) ?? true)),
  ];
  if (refused.length === 0) return;
  throw new Problem(
    "FORBIDDEN",
    `The token of "${caller?.name ?? ""}" does not reach ${refused.map((name) => `"${name}"`).join(", ")}.`,
  );
}

function checkNames(handlers: readonly ContractData[]): void {
  const names = handlers.map(({ name }) => name);
  const index = names.findIndex((name, at) => names.indexOf(name) < at);
  if (index === -1) return;
  const text = `The handler "${names[index] ?? ""}" is registered twice.`;
  const error = { pointer: `/handlers/${index}/name`, code: "DUPLICATE", message: text };
  throw new Problem("BAD_REQUEST", text, [error]);
}

const shipped = new Set(handlerCatalogue.keys());

function checkContract(contract: ContractData, index: number, mayShadow: boolean): void {
  const reason = mayShadow ? undefined : whyReserved(contract.name, shipped);
  if (reason !== undefined && !isShipped(contract)) {
    throw new Problem(
      "HANDLER_RESERVED",
      `The handler "${contract.name}" cannot be registered: ${reason}. ` +
        "Choose another name, such as one that starts with your organisation's.",
    );
  }
  try {
    toContract(contract);
  } catch (error) {
    if (!(error instanceof BadSchema)) throw error;
    throw new Problem("BAD_REQUEST", `A schema of "${contract.name}" cannot be used.`, [
      { pointer: `/handlers/${index}`, code: "BAD_SCHEMA", message: error.message },
    ]);
  }
}

/** Our own worker offers the shipped handlers over HTTP too: the same contract under the same name. */
function isShipped(contract: ContractData): boolean {
  const own = handlerCatalogue.get(contract.name);
  return own !== undefined && JSON.stringify(describeContract(own)) === JSON.stringify(contract);
}

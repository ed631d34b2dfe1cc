import type { ContractData } from "../core/handlers/contract-data.ts";
import { describeContract } from "../core/handlers/contract-data.ts";
import type { Handler } from "./define-handler.ts";

/** The handlers that a worker offers: those that ship, and those of the user's folders. */
export interface HandlerSet {
  get(name: string): Handler | undefined;
  /** The same array until the set changes, as `contracts`. */
  names(): readonly string[];
  contracts(): readonly ContractData[];
  /** Replaces the user's handlers. One with a shipped name takes its place. */
  replaceOwn(own: readonly Handler[]): void;
}

export function createHandlerSet(shipped: ReadonlyMap<string, Handler>): HandlerSet {
  let all: ReadonlyMap<string, Handler> = shipped;
  let names: readonly string[] = [...all.keys()];
  let contracts: readonly ContractData[] | undefined;
  return {
    get: (name) => all.get(name),
    names: () => names,
    // An alias has the contract of its handler, which is registered once.
    contracts: () =>
      (contracts ??= [...all]
        .filter(([name, { contract }]) => name === contract.name)
        .map(([, { contract }]) => describeContract(contract))),
    replaceOwn(own) {
      all = new Map([
        ...shipped,
        ...own.map((handler) => [handler.contract.name, handler] as const),
      ]);
      names = [...all.keys()];
      contracts = undefined;
    },
  };
}

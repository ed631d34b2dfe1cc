import type { HandlerContract } from "./handlers/contract.ts";
import { testingContracts } from "./handlers/testing.ts";

export type { HandlerContract } from "./handlers/contract.ts";
export { defineContract } from "./handlers/contract.ts";

/** Every handler that a workflow may name. The worker's registry must implement exactly these. */
export const handlerCatalogue: ReadonlyMap<string, HandlerContract> = new Map(
  [...testingContracts].map((contract) => [contract.name, contract]),
);

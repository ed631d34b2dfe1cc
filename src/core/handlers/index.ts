import { handlerAliases } from "./aliases.ts";
import type { HandlerContract } from "./contract.ts";
import { platformContracts } from "./platform.ts";
import { exportContracts } from "./export.ts";
import { fathomContracts } from "./fathom.ts";
import { fileContracts } from "./files.ts";
import { h3Contracts } from "./h3.ts";
import { rasterContracts } from "./raster.ts";
import { stageContracts } from "./stages.ts";
import { stacContracts } from "./stac.ts";
import { testingContracts } from "./testing.ts";
import { vectorContracts } from "./vector.ts";

export type { HandlerContract } from "./contract.ts";

/** The handlers that ship with rmhdag, each by its own name. Workers register others: see contract-data.ts. */
export const shippedHandlers: ReadonlyMap<string, HandlerContract> = new Map(
  [
    ...testingContracts,
    ...rasterContracts,
    ...stacContracts,
    ...vectorContracts,
    ...h3Contracts,
    ...fathomContracts,
    ...exportContracts,
    ...platformContracts,
    ...fileContracts,
    ...stageContracts,
  ].map((contract) => [contract.name, contract]),
);

/**
 * Every name of a handler that a workflow may use. An alias leads to the contract of the handler
 * that it names. The worker's registry must implement exactly these.
 */
export const handlerCatalogue: ReadonlyMap<string, HandlerContract> = new Map([
  ...shippedHandlers,
  ...Object.entries(handlerAliases).flatMap(([alias, name]) => {
    const contract = shippedHandlers.get(name);
    return contract === undefined ? [] : [[alias, contract] as const];
  }),
]);

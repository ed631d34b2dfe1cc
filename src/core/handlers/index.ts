import type { HandlerContract } from "./contract.ts";
import { exportContracts } from "./export.ts";
import { rasterContracts } from "./raster.ts";
import { stacContracts } from "./stac.ts";
import { testingContracts } from "./testing.ts";
import { vectorContracts } from "./vector.ts";

export type { HandlerContract } from "./contract.ts";
export { defineContract } from "./contract.ts";

/** Every handler that a workflow may name. The worker's registry must implement exactly these. */
export const handlerCatalogue: ReadonlyMap<string, HandlerContract> = new Map(
  [
    ...testingContracts,
    ...rasterContracts,
    ...stacContracts,
    ...vectorContracts,
    ...exportContracts,
  ].map((contract) => [contract.name, contract]),
);

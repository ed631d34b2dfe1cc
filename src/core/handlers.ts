import type { HandlerContract } from "./handlers/contract.ts";
import { exportContracts } from "./handlers/export.ts";
import { rasterContracts } from "./handlers/raster.ts";
import { stacContracts } from "./handlers/stac.ts";
import { testingContracts } from "./handlers/testing.ts";
import { vectorContracts } from "./handlers/vector.ts";

export type { HandlerContract } from "./handlers/contract.ts";
export { defineContract } from "./handlers/contract.ts";

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

import { partnerAssetContracts } from "./assets.ts";
import { batchContracts } from "./batch.ts";
import { partnerKeyContracts } from "./keys.ts";
import { ogcContracts } from "./ogc.ts";
import { operationContracts } from "./operations.ts";
import { partnerPlatformContracts } from "./platform.ts";
import { probeContracts } from "./probes.ts";
import { proxyContracts } from "./proxy.ts";
import { partnerTileContracts } from "./tiles.ts";
import { partnerUploadContracts } from "./uploads.ts";

/** Every route of the gateway's API. */
export const gatewayContracts = [
  ...partnerPlatformContracts,
  ...batchContracts,
  ...partnerKeyContracts,
  ...partnerAssetContracts,
  ...partnerTileContracts,
  ...partnerUploadContracts,
  ...ogcContracts,
  ...operationContracts,
  ...proxyContracts,
  ...probeContracts,
] as const;
export type GatewayContracts = typeof gatewayContracts;

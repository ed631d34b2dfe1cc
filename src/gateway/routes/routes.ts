import type { Handlers } from "../../adapters/http/handler.ts";
import type { GatewayContracts } from "../../core/api/gateway/index.ts";
import { assetRoutes } from "./assets.ts";
import { batchRoutes } from "./batch.ts";
import type { RouteDeps } from "./deps.ts";
import { keyRoutes } from "./keys.ts";
import { ogcRoutes } from "./ogc.ts";
import { operationRoutes } from "./operations.ts";
import { platformRoutes } from "./platform.ts";
import { probeRoutes } from "./probes.ts";
import { proxyRoutes } from "./proxy.ts";
import { tileRoutes } from "./tiles.ts";
import { uploadRoutes } from "./uploads.ts";

/** A handler for every contract of the gateway. */
export function makeRoutes(deps: RouteDeps): Handlers<GatewayContracts> {
  return {
    ...platformRoutes(deps),
    ...batchRoutes(deps),
    ...keyRoutes(deps),
    ...assetRoutes(deps),
    ...tileRoutes(deps),
    ...uploadRoutes(deps),
    ...ogcRoutes(deps),
    ...operationRoutes(deps),
    ...proxyRoutes(deps),
    ...probeRoutes(deps),
  };
}

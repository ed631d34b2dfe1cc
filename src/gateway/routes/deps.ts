import type { Metrics } from "../../adapters/http/metrics.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Asked, PartnerRequest } from "../../adapters/postgres/queries/gateway-requests.ts";
import type { Batcher } from "../../adapters/runtime/batcher.ts";
import type { ProxyRule } from "../../core/gateway/proxy-rules.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Target } from "../call-target.ts";
import type { RateLimiter } from "../limit-rate.ts";
import type { Orchestrator } from "../orchestrator.ts";
import type { StartChecks } from "../start-checks.ts";

/** Dependencies of the routes; each group takes the part it needs. */
export interface RouteDeps {
  readonly db: Queryable;
  readonly orchestrator: Orchestrator;
  /** Joins polls that come at the same time into one query. */
  readonly polls: Pick<Batcher<Asked, PartnerRequest | undefined>, "add">;
  readonly limiter: RateLimiter;
  readonly checks: StartChecks;
  readonly targets: ReadonlyMap<string, Target>;
  readonly proxyRules: readonly ProxyRule[];
  readonly forwardTimeoutMs: number;
  /** Put before links; empty where links are paths. */
  readonly publicUrl: string;
  /** Put before the URLs of tiles and features, which the orchestrator serves. */
  readonly servicesUrl: string;
  readonly version: string;
  readonly metrics: Pick<Metrics, "render">;
  /** The configuration without secrets. */
  readonly shownConfig: JsonObject;
}

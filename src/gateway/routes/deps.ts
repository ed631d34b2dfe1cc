import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Asked, PartnerRequest } from "../../adapters/postgres/queries/gateway-requests.ts";
import type { Batcher } from "../../adapters/runtime/batcher.ts";
import type { ProxyRule } from "../../core/gateway/proxy-rules.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Target } from "../call-target.ts";
import type { RateLimiter } from "../limit-rate.ts";
import type { Orchestrator } from "../orchestrator.ts";
import type { StartChecks } from "../start-checks.ts";

/** Everything that the routes use; each group takes the part it needs. */
export interface RouteDeps {
  readonly db: Queryable;
  readonly orchestrator: Orchestrator;
  /** Polls that come together are one question to the database. */
  readonly polls: Pick<Batcher<Asked, PartnerRequest | undefined>, "add">;
  readonly limiter: RateLimiter;
  readonly checks: StartChecks;
  readonly targets: ReadonlyMap<string, Target>;
  readonly proxyRules: readonly ProxyRule[];
  readonly forwardTimeoutMs: number;
  /** In front of links; empty where links are paths. */
  readonly publicUrl: string;
  /** In front of the addresses of tiles and features, which the orchestrator serves. */
  readonly servicesUrl: string;
  readonly version: string;
  /** Of the configuration, what is not secret. */
  readonly shownConfig: JsonObject;
}

import { docsPage } from "../../adapters/http/docs-page.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { ping } from "../../adapters/postgres/queries/schema.ts";
import { gatewayContracts } from "../../core/api/gateway/index.ts";
import type { probeContracts } from "../../core/api/gateway/probes.ts";
import { makeOpenApi } from "../../core/api/openapi.ts";
import { Problem } from "../../core/errors.ts";
import { once } from "../../core/once.ts";
import { probeTargets } from "../call-target.ts";
import type { RouteDeps } from "./deps.ts";

type State = "ok" | "degraded" | "down";

export function probeRoutes(
  deps: Pick<RouteDeps, "db" | "checks" | "targets" | "version" | "metrics">,
): Handlers<typeof probeContracts> {
  const { db, checks, version } = deps;
  const document = once(() => makeOpenApi(gatewayContracts, version, "gateway"));
  const page = once(() => docsPage(gatewayContracts, document(), "/api/openapi.json"));

  const livez = async () => ({ status: "ok" as const });
  const readyz = async () => {
    checks.demand();
    await ping(db).catch(() => {
      throw new Problem("UNAVAILABLE", "The check `database` failed: it does not answer.");
    });
    return { status: "ready" as const, checks: { ...checks.results() } };
  };

  async function look() {
    const orchestrators = [...deps.targets].filter(([name]) => name === "orchestrator");
    const [database, { orchestrator = "down" }] = await Promise.all([
      ping(db).then(
        () => "ok" as const,
        () => "down" as const,
      ),
      probeTargets(new Map(orchestrators)),
    ]);
    const status: State =
      database === "down" ? "down" : orchestrator === "down" ? "degraded" : "ok";
    return { status, version, database, orchestrator };
  }

  // Public, so probes that come at the same time share one check.
  let looking: ReturnType<typeof look> | undefined;
  const health = () =>
    (looking ??= look().finally(() => {
      looking = undefined;
    }));

  return {
    livez,
    apiLivez: livez,
    readyz,
    apiReadyz: readyz,

    gatewayHealth: health,
    gatewayMetrics: () => deps.metrics.render(),

    gatewayOpenapi: async () => document(),
    gatewayDocs: async () => page(),
  };
}

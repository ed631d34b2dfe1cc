import { docsPage } from "../../adapters/http/docs-page.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { healthContracts } from "../../core/api/health.ts";
import { contracts } from "../../core/api/index.ts";
import { makeOpenApi } from "../../core/api/openapi.ts";
import { once } from "../../core/once.ts";
import type { HealthDeps } from "./check-health.ts";
import { createHealth } from "./check-health.ts";
import type { ReadinessDeps } from "./check-readiness.ts";
import { checkReadiness, createReadinessChecks } from "./check-readiness.ts";
import type { Share } from "./share-reading.ts";

export interface HealthRouteDeps
  extends Omit<HealthDeps, "readiness">, Pick<ReadinessDeps, "storage"> {
  readonly version: string;
  readonly share: Share;
}

/** Health checks and the documentation of the API. */
export function healthRoutes(deps: HealthRouteDeps): Handlers<typeof healthContracts> {
  const { version } = deps;
  const readiness = createReadinessChecks(deps);
  const health = deps.share(createHealth({ ...deps, readiness }));
  // With the first request: describing two hundred schemas takes as long as the rest of a start.
  const document = once(() => makeOpenApi(contracts, version));
  const page = once(() => docsPage(contracts, document()));
  return {
    livez: async () => ({ status: "ok" }),

    readyz: async () => ({ status: "ready", checks: await checkReadiness(readiness) }),

    health: async ({ caller }) => {
      const { status, parts } = await health();
      // Only callers with read access see hosts, versions and queues.
      const mayRead = caller?.access.includes("read") === true;
      return mayRead ? { status, version, parts } : { status, version };
    },

    openapi: async () => document(),
    docs: async () => page(),
  };
}

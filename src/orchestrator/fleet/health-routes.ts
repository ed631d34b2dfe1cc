import type { AccessPolicy } from "../../adapters/http/access.ts";
import { sessionCookie } from "../../adapters/http/access.ts";
import { docsPage } from "../../adapters/http/docs-page.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { ping, readSchemaStatus } from "../../adapters/postgres/queries/schema.ts";
import type { healthContracts } from "../../core/api/health.ts";
import { contracts } from "../../core/api/index.ts";
import { makeOpenApi } from "../../core/api/openapi.ts";
import { once } from "../../core/once.ts";
import { Problem } from "../../core/errors.ts";
import type { HealthDeps } from "./check-health.ts";
import { checkHealth } from "./check-health.ts";

export interface HealthRouteDeps extends HealthDeps {
  readonly version: string;
  readonly access: AccessPolicy;
}

/** Health checks, the documentation of the API, and logging in by a link. */
export function healthRoutes(deps: HealthRouteDeps): Handlers<typeof healthContracts> {
  const { db, version } = deps;
  // With the first request: describing two hundred schemas takes as long as the rest of a start.
  const document = once(() => makeOpenApi(contracts, version));
  const page = once(() => docsPage(contracts, document()));
  return {
    livez: async () => ({ status: "ok" }),

    readyz: async () => {
      await ping(db).catch(() => {
        throw new Problem("UNAVAILABLE", "The check `database` failed: it does not answer.");
      });
      const { version: at, needed, current } = await readSchemaStatus(db);
      if (!current) {
        throw new Problem(
          "UNAVAILABLE",
          `The check \`schema\` failed: it is at version ${at} and ${needed} is needed.`,
        );
      }
      return { status: "ready", checks: { database: "ok", schema: `version ${at}` } };
    },

    health: async ({ caller }) => {
      const { status, parts } = await checkHealth(deps);
      // Only callers with read access see hosts, versions and queues.
      const mayRead = caller?.access.includes("read") === true;
      return mayRead ? { status, version, parts } : { status, version };
    },

    openapi: async () => document(),
    docs: async () => page(),

    login: async ({ query: { token, next } }) => {
      if ((await deps.access.authenticate(token)) === undefined) {
        throw new Problem("UNAUTHENTICATED", "The link is not valid any more: ask for a new one.");
      }
      const cookie = `${sessionCookie}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict`;
      return new Answer("", { status: 303, headers: { location: next, "set-cookie": cookie } });
    },
  };
}

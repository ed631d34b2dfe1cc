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
import type { RouteDeps } from "../route-deps.ts";
import { examine } from "./check-health.ts";

export function healthRoutes(
  deps: Pick<RouteDeps, "db" | "broker" | "queues" | "version" | "access">,
): Handlers<typeof healthContracts> {
  const { db, version } = deps;
  // At the first question: describing two hundred schemas takes as long as the rest of a start.
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
      const { status, parts } = await examine(deps);
      // Hosts, versions and queues are nobody's business who cannot read the rest.
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

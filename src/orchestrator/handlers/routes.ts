import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { listContracts } from "../../adapters/postgres/queries/handlers.ts";
import { forgetHandler } from "../../adapters/postgres/repositories/handlers.ts";
import { hideSecrets } from "../../adapters/runtime/redact.ts";
import type { HandlerView, handlerContracts } from "../../core/api/handlers.ts";
import { suggest } from "../../core/dag/suggest.ts";
import { Problem } from "../../core/errors.ts";
import { shippedHandlers } from "../../core/handlers/index.ts";
import { cleanText } from "../../core/model/output.ts";
import { describeHandlers } from "./describe-handlers.ts";
import { testHandler } from "./test-handler.ts";

export interface HandlerRouteDeps {
  readonly db: Database;
  /** Of handlers that operators run for a test; undefined: they may not. */
  readonly testEnvironment: NodeJS.ProcessEnv | undefined;
}

export function handlerRoutes({
  db,
  testEnvironment,
}: HandlerRouteDeps): Handlers<typeof handlerContracts> {
  const read = async () => describeHandlers(shippedHandlers, await listContracts(db));

  async function find(name: string): Promise<HandlerView> {
    const all = await read();
    const found = all.find((each) => each.name === name);
    if (found !== undefined) return found;
    const close = suggest(
      name,
      all.map((each) => each.name),
    );
    const hint = close === undefined ? "" : ` Did you mean "${close}"?`;
    throw new Problem("HANDLER_NOT_FOUND", `No worker has offered a handler "${name}".${hint}`);
  }

  return {
    listHandlers: async () => ({ items: await read(), next_cursor: null }),
    getHandler: async ({ params: { name } }) => find(name),
    forgetHandler: async ({ params: { name } }) => {
      const { alive, ships } = await find(name);
      if (alive || ships) {
        const why = ships ? "It ships with rmhdag." : "Stop the workers that offer it first.";
        throw new Problem("HANDLER_IN_USE", `The handler "${name}" is in use. ${why}`);
      }
      return { forgotten: await forgetHandler(db, name) };
    },
    testHandler: async ({ body, signal }) => {
      if (testEnvironment === undefined) {
        throw new Problem(
          "SWITCHED_OFF",
          "Handlers are tested with RMHDAG_ALLOW_TEST_HANDLER only.",
        );
      }
      const { log, ...ended } = await testHandler(testEnvironment, body, signal);
      return { ...ended, log: log.map((line) => hideSecrets(cleanText(line))) };
    },
  };
}

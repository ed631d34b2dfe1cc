import { afterAll } from "vitest";
import { describeBroker } from "../../../test/conformance/broker.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createLogger } from "../runtime/logger.ts";
import { createPostgresBroker } from "./postgres-broker/create-postgres-broker.ts";

const log = createLogger({ name: "test", level: "error", format: "json" });
let database: TestDatabase | undefined;

afterAll(() => database?.drop());

describeBroker("the broker on PostgreSQL", async () => {
  const { db, url } = (database = await createTestDatabase({ max: 20 }));
  const make = () => createPostgresBroker({ db, url, holder: "test", log });
  return {
    capabilities: make().capabilities,
    makeBroker: async () => make(),
    transaction: (work) => db.transaction(work),
  };
});

import { afterAll } from "vitest";
import { describeBroker } from "../../../../test/conformance/broker.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createLogger } from "../../runtime/logger.ts";
import { createPostgresBroker } from "./create-postgres-broker.ts";

const log = createLogger({ name: "test", level: "error", format: "json" });
let database: TestDatabase | undefined;

afterAll(() => database?.drop());

describeBroker("the broker on PostgreSQL", async () => {
  const { db, url } = (database = await createTestDatabase({ max: 20 }));
  const make = () => createPostgresBroker({ db, url, holder: "test", log });
  return {
    capabilities: make().capabilities,
    makeBroker: async () => make(),
    rivalProgram: `
      import { createPostgresBroker } from "./dist/adapters/broker/postgres-broker/create-postgres-broker.js";
      import { openDatabase } from "./dist/adapters/postgres/database.js";
      import { createLogger } from "./dist/adapters/runtime/logger.js";
      const url = ${JSON.stringify(url)};
      const db = openDatabase({ url, applicationName: "rival" });
      const log = createLogger({ level: "error", format: "json" });
      const broker = createPostgresBroker({ db, url, holder: "rival", log });
    `,
    transaction: (work) => db.transaction(work),
  };
});

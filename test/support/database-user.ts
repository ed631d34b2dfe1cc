import { randomBytes } from "node:crypto";
import pg from "pg";
import { makeLogins } from "../../src/adapters/postgres/roles/make-login.ts";
import type { ProgramRole } from "../../src/adapters/postgres/roles/rights.ts";

export interface DatabaseUser {
  readonly url: string;
  remove(): Promise<void>;
}

/** A user of the database with the gateway's rights, and its address. */
export function makeGatewayUser(databaseUrl: string): Promise<DatabaseUser> {
  return makeProgramUser(databaseUrl, "rmhdag_gateway");
}

/** A user of the database with the rights of a program, and its address. */
export async function makeProgramUser(
  databaseUrl: string,
  role: ProgramRole,
): Promise<DatabaseUser> {
  const user = `${role}_test_${randomBytes(6).toString("hex")}`;
  const password = randomBytes(12).toString("hex");
  if (!(await makeLogins(databaseUrl, [{ role, user, password }]))) {
    throw new Error("the tests' user may not create roles");
  }
  const url = new URL(databaseUrl);
  url.username = user;
  url.password = password;
  return {
    url: url.href,
    remove: async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      try {
        await client.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
      } finally {
        await client.end();
      }
    },
  };
}

import { randomBytes } from "node:crypto";
import pg from "pg";
import { grantGatewayUser } from "../../src/adapters/postgres/gateway-user.ts";

/** A user of the database with the gateway's rights, and its address. */
export async function makeGatewayUser(
  databaseUrl: string,
): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const user = `rmhdag_test_gateway_${randomBytes(6).toString("hex")}`;
  const password = randomBytes(12).toString("hex");
  if (!(await grantGatewayUser(databaseUrl, { user, password }))) {
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
      await client.query(`DROP ROLE ${user}`).finally(() => client.end());
    },
  };
}

import { createHash } from "node:crypto";
import { grantGatewayUser } from "../../adapters/postgres/gateway-user.ts";

/**
 * The address of the database for the gateway: with a user of its own that can only read. The user
 * is named after its password, so that two sites on one server do not change each other's.
 */
export async function makeGatewayUser(
  databaseUrl: string,
  password: string,
  say: (line: string) => void,
): Promise<string | undefined> {
  const user = `rmhdag_gateway_${createHash("sha256").update(password).digest("hex").slice(0, 8)}`;
  if (await grantGatewayUser(databaseUrl, { user, password })) {
    const url = new URL(databaseUrl);
    url.username = user;
    url.password = password;
    return url.href;
  }
  say(
    "no gateway: this user may not create roles. Let an administrator run " +
      "deploy/gateway-role.sql, then start `rmhdag gateway`",
  );
  return undefined;
}

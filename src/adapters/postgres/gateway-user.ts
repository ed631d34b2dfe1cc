import pg from "pg";
import { hasErrorCode } from "../runtime/error-code.ts";

/** The migrations create this role and grant it every right that the gateway has. */
const gatewayRole = "rmhdag_gateway";

const forbidden = "42501";

/**
 * Creates a user with the rights of the gateway and no others. Answers false when the role of the
 * gateway is missing, or when this connection may not create users.
 */
export async function grantGatewayUser(
  url: string,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: "rmhdag gateway user" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ rolname: string }>(
      "SELECT rolname FROM pg_roles WHERE rolname = ANY ($1)",
      [[gatewayRole, user]],
    );
    const existing = new Set(rows.map(({ rolname }) => rolname));
    if (!existing.has(gatewayRole)) return false;
    // CREATE ROLE and GRANT take no parameters, so the driver's quoting is used.
    const name = pg.escapeIdentifier(user);
    const verb = existing.has(user) ? "ALTER" : "CREATE";
    await client.query(`${verb} ROLE ${name} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
    await client.query(`GRANT ${gatewayRole} TO ${name}`);
    return true;
  } catch (error) {
    if (hasErrorCode(error, forbidden)) return false;
    throw error;
  } finally {
    await client.end();
  }
}

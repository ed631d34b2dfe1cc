import pg from "pg";
import { hasErrorCode } from "../runtime/error-code.ts";

/** Made by the migrations, with every right that the gateway has. */
const gatewayRole = "rmhdag_gateway";

const forbidden = "42501";

/** Makes a user that has the rights of the gateway and no others; false where that is forbidden. */
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
    const known = new Set(rows.map(({ rolname }) => rolname));
    if (!known.has(gatewayRole)) return false;
    // Statements that define take no parameters, so the driver's own quoting stands in.
    const name = pg.escapeIdentifier(user);
    const verb = known.has(user) ? "ALTER" : "CREATE";
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

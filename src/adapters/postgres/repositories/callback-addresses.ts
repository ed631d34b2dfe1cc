import type { CallbackAddress, CallbackAddressEdit } from "../../../core/model/callback-address.ts";
import { Conditions } from "../queries/conditions.ts";
import { isoRow } from "../queries/rows.ts";
import type { Queryable } from "../queryable.ts";

const columns = `platform_id, name, url, event_types, is_active, secret_number, secret_changed_at,
  created_at, updated_at`;

export async function listCallbackAddresses(
  db: Queryable,
  filter: { readonly platform_id?: string | undefined; readonly name?: string },
): Promise<CallbackAddress[]> {
  const where = new Conditions()
    .add("platform_id = ?", filter.platform_id)
    .add("name = ?", filter.name);
  const { rows } = await db.query(
    `SELECT ${columns} FROM dagapp.platform_callbacks WHERE ${where.toString()}
     ORDER BY platform_id, name`,
    where.values,
  );
  return rows.map((row) => isoRow<CallbackAddress>(row));
}

export async function writeCallbackAddress(
  db: Queryable,
  platformId: string,
  name: string,
  { url, event_types, is_active }: CallbackAddressEdit,
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.platform_callbacks (platform_id, name, url, event_types, is_active)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (platform_id, name) DO UPDATE SET url = $3, event_types = $4, is_active = $5,
       updated_at = now()`,
    [platformId, name, url, event_types, is_active],
  );
}

export async function deleteCallbackAddress(
  db: Queryable,
  platformId: string,
  name: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    "DELETE FROM dagapp.platform_callbacks WHERE platform_id = $1 AND name = $2",
    [platformId, name],
  );
  return rowCount === 1;
}

export async function rotateAddressSecret(
  db: Queryable,
  platformId: string,
  name: string,
): Promise<void> {
  await db.query(
    `UPDATE dagapp.platform_callbacks SET secret_number = secret_number + 1,
       secret_changed_at = now(), updated_at = now() WHERE platform_id = $1 AND name = $2`,
    [platformId, name],
  );
}

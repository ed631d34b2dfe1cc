import type { ExternalService, ServiceEdit } from "../../../core/model/external-service.ts";
import { layerKinds } from "../../../core/model/external-service.ts";
import { Conditions, iso, isoOrNull } from "../queries/conditions.ts";
import type { Queryable } from "../queryable.ts";

const columns = `service_id, name, kind, url, health_url, attribution, is_active, health,
  health_error, latency_ms, failures, checked_at, updated_by, created_at, updated_at`;

type Row = Omit<ExternalService, "checked_at" | "created_at" | "updated_at"> & {
  readonly checked_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

function toService(row: Row): ExternalService {
  return {
    ...row,
    checked_at: isoOrNull(row.checked_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

export async function listServices(
  db: Queryable,
  { kind, layers }: { readonly kind?: string | undefined; readonly layers: boolean },
): Promise<ExternalService[]> {
  const where = new Conditions()
    .add("kind = ?", kind)
    .add("kind = ANY(?::text[])", layers ? [...layerKinds] : undefined);
  if (layers) where.always("is_active");
  const { rows } = await db.query<Row>(
    `SELECT ${columns} FROM dagapp.dag_external_services WHERE ${where.toString()}
     ORDER BY name, service_id`,
    where.values,
  );
  return rows.map(toService);
}

export async function findService(
  db: Queryable,
  serviceId: string,
): Promise<ExternalService | undefined> {
  const { rows } = await db.query<Row>(
    `SELECT ${columns} FROM dagapp.dag_external_services WHERE service_id = $1`,
    [serviceId],
  );
  return rows[0] && toService(rows[0]);
}

/** A changed registration is unknown until it is checked again. */
export async function writeService(
  db: Queryable,
  serviceId: string,
  edit: ServiceEdit,
  by: string,
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.dag_external_services
       (service_id, name, kind, url, health_url, attribution, is_active, updated_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (service_id) DO UPDATE SET name = $2, kind = $3, url = $4, health_url = $5,
       attribution = $6, is_active = $7, updated_by = $8, updated_at = now(), health = 'unknown',
       health_error = NULL, latency_ms = NULL, failures = 0, checked_at = NULL`,
    [
      serviceId,
      edit.name,
      edit.kind,
      edit.url,
      edit.health_url,
      edit.attribution,
      edit.is_active,
      by,
    ],
  );
}

export async function deleteService(db: Queryable, serviceId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "DELETE FROM dagapp.dag_external_services WHERE service_id = $1",
    [serviceId],
  );
  return rowCount === 1;
}

/** Takes services whose check is due, so that only one orchestrator checks each of them. */
export async function takeDueServices(
  db: Queryable,
  { everySeconds, limit }: { readonly everySeconds: number; readonly limit: number },
): Promise<ExternalService[]> {
  const { rows } = await db.query<Row>(
    `UPDATE dagapp.dag_external_services SET checked_at = now() WHERE service_id IN (
       SELECT service_id FROM dagapp.dag_external_services
       WHERE is_active AND (checked_at IS NULL OR checked_at < now() - $1 * interval '1 second')
       ORDER BY checked_at NULLS FIRST LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING ${columns}`,
    [everySeconds, limit],
  );
  return rows.map(toService);
}

/** Null as the error: the service answered well. */
export async function recordCheck(
  db: Queryable,
  serviceId: string,
  { error, latencyMs }: { readonly error: string | null; readonly latencyMs: number },
): Promise<void> {
  await db.query(
    `UPDATE dagapp.dag_external_services SET checked_at = now(), latency_ms = $3,
       health = CASE WHEN $2::text IS NULL THEN 'ok' ELSE 'failing' END, health_error = $2,
       failures = CASE WHEN $2::text IS NULL THEN 0 ELSE failures + 1 END
     WHERE service_id = $1`,
    [serviceId, error, latencyMs],
  );
}

/**
 * The roles of the platform in the database, and what each may do.
 *
 * `rmhdag_owner` owns the schemas and changes them. `rmhdag_orchestrator`, `rmhdag_worker` and
 * `rmhdag_gateway` are groups without a login; a program connects as a member of one of them. Roles
 * belong to the whole server: an administrator makes them (deploy/roles.sql), or `rmhdag up`.
 */
export const ownerRole = "rmhdag_owner";
export const orchestratorRole = "rmhdag_orchestrator";
export const workerRole = "rmhdag_worker";
export const gatewayRole = "rmhdag_gateway";

/** An advisory lock; any constant that no other program of this database uses for one. */
export const rolesLock = 7_236_400_004;

/** The groups whose members are programs. */
export const programRoles = [orchestratorRole, workerRole, gatewayRole] as const;
export type ProgramRole = (typeof programRoles)[number];

/** The rights on a table that are granted and compared; no program truncates. */
export const tableRights = ["SELECT", "INSERT", "UPDATE", "DELETE"] as const;
export type TableRight = (typeof tableRights)[number];

export interface Relation {
  readonly schema: string;
  readonly name: string;
}

/**
 * Tables of the schema `dagapp` that a worker uses. It has no right on any other: it changes no job,
 * asset or platform, and does not even read requests, keys, callbacks, tokens and sessions.
 */
const workerTables: ReadonlyMap<string, readonly TableRight[]> = new Map(
  Object.entries({
    dag_queue_ready: tableRights,
    dag_queue_leases: tableRights,
    dag_queue_dead: tableRights,
    dag_workers: tableRights,
    dag_handlers: tableRights,
    dag_handler_offers: tableRights,
    stac_collections: tableRights,
    stac_items: tableRights,
    stac_revision_items: tableRights,
    geo_loads: tableRights,
    geo_load_chunks: tableRights,
    geo_tables: tableRights,
    h3_raster_sources: ["SELECT", "INSERT", "UPDATE"],
    h3_vector_sources: ["SELECT", "INSERT", "UPDATE"],
    h3_combined_sources: ["SELECT", "INSERT", "UPDATE"],
    h3_computation_runs: ["SELECT", "INSERT", "UPDATE"],
    h3_output_manifest: ["SELECT", "INSERT", "UPDATE"],
    fathom_rasters: ["SELECT", "INSERT", "UPDATE"],
    dag_task_results: ["SELECT", "INSERT"],
    dag_task_inbox: ["SELECT", "INSERT"],
    dag_task_logs: ["SELECT", "INSERT"],
    dag_checkpoints: ["SELECT", "INSERT"],
    dag_task_requests: ["SELECT", "INSERT"],
    dag_blob_assets: ["SELECT", "INSERT", "UPDATE"],
    dag_dataset_refs: ["SELECT", "INSERT", "DELETE"],
    // To whom an item of the catalogue belongs follows from the job that makes it.
    dag_jobs: ["SELECT"],
    asset_jobs: ["SELECT"],
    asset_versions: ["SELECT"],
    geospatial_assets: ["SELECT"],
    platforms: ["SELECT"],
    dag_queues: ["SELECT"],
    dag_push_servers: ["SELECT"],
    dag_node_states: ["SELECT"],
    dag_running_tasks: ["SELECT"],
    dag_attempts: ["SELECT"],
    schema_migrations: ["SELECT"],
  }),
);

/** The rights that a role has on a table or view. A new table is the orchestrator's alone. */
export function rightsOn({ schema, name }: Relation, role: ProgramRole): readonly TableRight[] {
  switch (role) {
    case orchestratorRole:
      if (schema !== "dagapp") return [];
      return name === "schema_migrations" ? ["SELECT"] : tableRights;
    case workerRole:
      return schema === "dagapp" ? (workerTables.get(name) ?? []) : [];
    case gatewayRole:
      return schema === "gateway" ? ["SELECT"] : [];
  }
}

/**
 * VACUUM is allowed to the owner of a table only (a right of its own, MAINTAIN, came with PostgreSQL
 * 17), and the orchestrator vacuums these: see maintain.ts of the PostgreSQL broker.
 */
export const vacuumedTables = ["dag_queue_ready", "dag_queue_leases", "dag_queue_seen"] as const;
const isVacuumed: ReadonlySet<string> = new Set(vacuumedTables);

/** The owner of a table, where it is not the owner of the schema. */
export function ownerOf({ schema, name }: Relation): ProgramRole | undefined {
  if (schema === "dagapp" && isVacuumed.has(name)) return orchestratorRole;
  // Workers make, fill, replace and drop the tables of vector layers.
  return schema === "geo" ? workerRole : undefined;
}

/** What a role may do in a schema. The orchestrator is a member of the worker's role. */
export const schemaRights: readonly (readonly [ProgramRole, string, string])[] = [
  [orchestratorRole, "dagapp", "USAGE"],
  [workerRole, "dagapp", "USAGE"],
  [workerRole, "geo", "USAGE, CREATE"],
  [gatewayRole, "gateway", "USAGE"],
];

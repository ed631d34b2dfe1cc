-- What the gateway sees, and the role that it sees it with.
--
-- The role may use the schema `gateway` and select from its views, and nothing else: it has no
-- rights in `dagapp` at all, so neither a table nor a function that is added there later is within
-- its reach. The views run with the rights of their owner, and show no column that a partner must
-- not see: those for partners (all but the last four) know no job, node or owner.

CREATE SCHEMA gateway;

CREATE VIEW gateway.schema_version AS
  SELECT max(version) AS version FROM dagapp.schema_migrations;

CREATE VIEW gateway.platforms AS
  SELECT platform_id, display_name, required_refs, optional_refs, version_ref, is_active,
    callback_url, callback_hosts, source_prefixes, row_version, created_at, updated_at
  FROM dagapp.platforms;

CREATE VIEW gateway.api_keys AS
  SELECT k.key_id, k.platform_id, k.name, k.key_hash, k.scopes, k.created_at, k.created_by,
    k.expires_at, k.revoked_at, k.rotated_from,
    p.is_active AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
      AS is_usable
  FROM dagapp.api_keys k JOIN dagapp.platforms p USING (platform_id);

-- Result and error are stored as the partner may read them.
CREATE VIEW gateway.requests AS
  SELECT r.request_id, r.platform_id, r.kind, r.workflow_id, r.asset_id, r.version_ordinal,
    v.version_label, r.revision, r.submitted_by, r.priority,
    CASE WHEN r.status = 'pending' AND j.status = 'running' THEN 'running'
      ELSE r.status::text END AS status,
    CASE WHEN r.status = 'completed' THEN 100
      WHEN j.nodes_total > 0
        THEN round(100.0 * (j.nodes_total - j.nodes_unsettled) / j.nodes_total)::integer
      ELSE 0 END AS percent,
    r.result, r.error, r.submitted_at, r.completed_at
  FROM dagapp.requests r
    JOIN dagapp.asset_versions v USING (asset_id, version_ordinal)
    LEFT JOIN dagapp.dag_jobs j ON j.job_id = r.job_id;

CREATE VIEW gateway.assets AS
  SELECT asset_id, platform_id, platform_refs, clearance_state, cleared_at, cleared_by,
    made_public_at, made_public_by, exposure, latest_approved_version_ordinal, row_version,
    deleted_at, deleted_by, created_at, updated_at
  FROM dagapp.geospatial_assets;

-- Why a job failed is told in its own words, which may name it: the partner reads the request's id.
CREATE VIEW gateway.asset_versions AS
  SELECT a.platform_id, v.asset_id, v.version_ordinal, v.version_label, v.approval_state,
    v.reviewer, v.reviewed_at, v.rejection_reason, v.withdrawn_at, v.processing_state,
    replace(v.processing_error, coalesce(v.current_job_id, v.request_id), v.request_id)
      AS processing_error,
    v.request_id, v.workflow_id, v.revision, v.served_revision, v.content_hash,
    v.stac_collection_id, v.stac_item_id, v.export_state, v.exported_revision,
    v.external_blob_path, v.deleted_at, v.deleted_by, v.created_at, v.updated_at,
    (SELECT min(o.version_ordinal) FROM dagapp.asset_versions o WHERE o.asset_id = v.asset_id
      AND o.content_hash = v.content_hash AND o.version_ordinal < v.version_ordinal
      AND o.deleted_at IS NULL) AS same_content_as
  FROM dagapp.asset_versions v JOIN dagapp.geospatial_assets a USING (asset_id);

CREATE VIEW gateway.asset_revisions AS
  SELECT a.platform_id, r.asset_id, r.version_ordinal, r.revision, r.request_id, r.workflow_id,
    r.restored_from, r.processing_state,
    replace(r.processing_error, coalesce(r.job_id, r.request_id), r.request_id)
      AS processing_error,
    r.content_hash, r.created_by, r.created_at, r.completed_at
  FROM dagapp.asset_revisions r JOIN dagapp.geospatial_assets a USING (asset_id);

-- What an event says of itself is for operators: it may name jobs.
CREATE VIEW gateway.asset_events AS
  SELECT a.platform_id, e.asset_id, e.event_id, e.version_ordinal, e.event_type, e.actor, e.via,
    e.created_at
  FROM dagapp.asset_events e JOIN dagapp.geospatial_assets a USING (asset_id);

CREATE VIEW gateway.deliveries AS
  SELECT event_id, platform_id, request_id, event_type, url, state, attempts, next_attempt_at,
    delivered_at, last_error, created_at
  FROM dagapp.callback_deliveries WHERE platform_id IS NOT NULL;

CREATE VIEW gateway.workflows AS
  SELECT w.workflow_id, v.version, v.definition ->> 'name' AS name,
    v.definition ->> 'description' AS description, v.definition -> 'inputs' AS inputs,
    v.definition -> 'outputs' AS outputs, w.updated_at,
    -- As in core/domain/for-platforms.ts.
    NOT jsonb_path_exists(v.definition, '$.nodes.*.**{0 to 1}.handler
      ? (@ starts with "export." || @ starts with "stac.")') AS for_partners
  FROM dagapp.dag_workflows w JOIN dagapp.dag_workflow_versions v USING (workflow_hash)
  WHERE w.is_active;

-- For operators.

CREATE VIEW gateway.jobs AS
  SELECT job_id, workflow_id, workflow_version, status, priority, correlation_id, idempotency_key,
    submitted_by, owner_id, error_code, error_message, failed_node_id, nodes_total,
    nodes_total - nodes_unsettled AS nodes_settled, created_at, started_at, updated_at,
    completed_at
  FROM dagapp.dag_jobs;

CREATE VIEW gateway.nodes AS
  SELECT job_id, node_id, node_type, status, parent_node_id, fan_out_index, attempt, retry_count,
    max_retries, handler, queue, worker_id, error, created_at, dispatched_at, started_at,
    completed_at
  FROM dagapp.dag_node_states;

CREATE VIEW gateway.job_events AS
  SELECT job_id, seq, event_type, event_status, node_id, task_id, checkpoint_name, event_data,
    created_at
  FROM dagapp.dag_job_events;

CREATE VIEW gateway.fleet AS
  SELECT 'orchestrator' AS kind, owner_id AS name, version,
    heartbeat_at > now() - interval '2 minutes' AS alive FROM dagapp.dag_orchestrators
  UNION ALL
  SELECT 'worker', worker_id, version, heartbeat_at > now() - interval '2 minutes'
  FROM dagapp.dag_workers;

-- Roles belong to the whole server: another database may have made it, at this very moment too.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rmhdag_gateway') THEN
    BEGIN
      CREATE ROLE rmhdag_gateway NOLOGIN;
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN
        NULL;
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'this user may not create roles, so the gateway has none yet: '
          'let an administrator run deploy/gateway-role.sql';
    END;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'rmhdag_gateway') THEN
    GRANT USAGE ON SCHEMA gateway TO rmhdag_gateway;
    GRANT SELECT ON ALL TABLES IN SCHEMA gateway TO rmhdag_gateway;
  END IF;
END $$;

-- What everybody may do in a new database, the gateway too: make temporary tables, and, where this
-- user is allowed to forbid it, large objects. Owners keep both.
DO $$
DECLARE
  writer regprocedure;
BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  IF to_regnamespace('public') IS NOT NULL THEN
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  END IF;
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    FOR writer IN
      SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN
        ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_open', 'lo_put', 'lo_truncate',
         'lo_truncate64', 'lo_unlink', 'lowrite')
    LOOP
      EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', writer);
    END LOOP;
  END IF;
END $$;

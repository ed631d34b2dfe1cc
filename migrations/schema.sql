-- What the migrations amount to. Generated from them: npm run generate

CREATE ROLE rmhdag_gateway NOLOGIN;
CREATE ROLE rmhdag_orchestrator NOLOGIN;
CREATE ROLE rmhdag_worker NOLOGIN;

CREATE SCHEMA dagapp;
CREATE SCHEMA gateway;
CREATE SCHEMA geo;

CREATE TYPE dagapp.approval_state AS ENUM (
  'pending_review',
  'approved',
  'rejected'
);
CREATE TYPE dagapp.clearance_state AS ENUM (
  'uncleared',
  'ouo',
  'public'
);
CREATE TYPE dagapp.delivery_state AS ENUM (
  'pending',
  'delivered',
  'exhausted'
);
CREATE TYPE dagapp.event_status AS ENUM (
  'info',
  'success',
  'warning',
  'error'
);
CREATE TYPE dagapp.export_state AS ENUM (
  'running',
  'completed',
  'failed',
  'withdrawn'
);
CREATE TYPE dagapp.exposure AS ENUM (
  'latest-only',
  'all-versions'
);
CREATE TYPE dagapp.geometry_form AS ENUM (
  'postgis',
  'wkb'
);
CREATE TYPE dagapp.job_purpose AS ENUM (
  'process',
  'export',
  'withdraw',
  'unpublish'
);
CREATE TYPE dagapp.job_status AS ENUM (
  'pending',
  'running',
  'completed',
  'failed',
  'cancelled'
);
CREATE TYPE dagapp.node_status AS ENUM (
  'pending',
  'ready',
  'dispatched',
  'running',
  'completed',
  'failed',
  'skipped',
  'cancelled'
);
CREATE TYPE dagapp.node_type AS ENUM (
  'start',
  'end',
  'task',
  'conditional',
  'fan_out',
  'fan_in'
);
CREATE TYPE dagapp.processing_state AS ENUM (
  'queued',
  'processing',
  'completed',
  'failed'
);
CREATE TYPE dagapp.request_kind AS ENUM (
  'submit',
  'resubmit',
  'reprocess'
);
CREATE TYPE dagapp.request_status AS ENUM (
  'pending',
  'running',
  'completed',
  'failed',
  'cancelled'
);
CREATE TYPE dagapp.task_status AS ENUM (
  'completed',
  'failed'
);

CREATE DOMAIN dagapp.job_key AS text CONSTRAINT job_key_length CHECK (((length(VALUE) >= 1) AND (length(VALUE) <= 64)));
CREATE DOMAIN dagapp.jsonb_object AS jsonb CONSTRAINT is_an_object CHECK ((jsonb_typeof(VALUE) = 'object'::text));
CREATE DOMAIN dagapp.natural_number AS integer CONSTRAINT not_negative CHECK ((VALUE >= 0));
CREATE DOMAIN dagapp.priority AS smallint CONSTRAINT priority_range CHECK (((VALUE >= 0) AND (VALUE <= 10)));

CREATE TABLE dagapp.access_tokens (
  token_id text NOT NULL,
  name text NOT NULL,
  sha256 text NOT NULL,
  access text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  queues text[],
  handlers text[]
);
CREATE TABLE dagapp.api_keys (
  key_id text NOT NULL,
  platform_id text NOT NULL,
  name text NOT NULL,
  key_hash text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  rotated_from text
);
CREATE TABLE dagapp.asset_events (
  event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  asset_id text NOT NULL,
  version_ordinal integer,
  event_type text NOT NULL,
  actor text NOT NULL,
  via text NOT NULL,
  event_data jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.asset_jobs (
  job_id text NOT NULL,
  asset_id text NOT NULL,
  version_ordinal integer NOT NULL,
  revision integer NOT NULL,
  request_id text NOT NULL,
  purpose dagapp.job_purpose NOT NULL,
  superseded boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.asset_revisions (
  asset_id text NOT NULL,
  version_ordinal integer NOT NULL,
  revision integer NOT NULL,
  request_id text NOT NULL,
  workflow_id text NOT NULL,
  job_id text,
  restored_from integer,
  processing_state dagapp.processing_state NOT NULL DEFAULT 'queued'::dagapp.processing_state,
  processing_error text,
  content_hash text,
  blob_path text,
  table_name text,
  stac_collection_id text,
  stac_item_id text,
  created_by text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  completed_at timestamp with time zone
);
CREATE TABLE dagapp.asset_versions (
  asset_id text NOT NULL,
  version_ordinal integer NOT NULL,
  version_label text NOT NULL,
  approval_state dagapp.approval_state NOT NULL DEFAULT 'pending_review'::dagapp.approval_state,
  reviewer text,
  reviewed_at timestamp with time zone,
  rejection_reason text,
  withdrawn_at timestamp with time zone,
  processing_state dagapp.processing_state NOT NULL DEFAULT 'queued'::dagapp.processing_state,
  processing_error text,
  request_id text NOT NULL,
  workflow_id text NOT NULL,
  current_job_id text,
  revision integer NOT NULL DEFAULT 1,
  served_revision integer,
  content_hash text,
  blob_path text,
  table_name text,
  stac_collection_id text,
  stac_item_id text,
  export_state dagapp.export_state,
  export_job_id text,
  exported_revision integer,
  external_blob_path text,
  adf_run_id text,
  deleted_at timestamp with time zone,
  deleted_by text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  style jsonb
);
CREATE TABLE dagapp.callback_attempts (
  event_id text NOT NULL,
  attempt integer NOT NULL,
  status_code integer,
  error text,
  duration_ms integer NOT NULL,
  attempted_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.callback_deliveries (
  event_id text NOT NULL,
  platform_id text,
  request_id text,
  job_id text,
  event_type text NOT NULL,
  url text NOT NULL,
  host text NOT NULL,
  body text NOT NULL,
  state dagapp.delivery_state NOT NULL DEFAULT 'pending'::dagapp.delivery_state,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamp with time zone NOT NULL DEFAULT now(),
  taken_until timestamp with time zone,
  delivered_at timestamp with time zone,
  last_error text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  trace_parent character varying(55),
  callback_name text
);
CREATE TABLE dagapp.callback_hosts (
  host text NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  open_until timestamp with time zone
);
CREATE TABLE dagapp.console_sessions (
  session_id text NOT NULL,
  sha256 text NOT NULL,
  name text NOT NULL,
  access text[] NOT NULL,
  opened_with text NOT NULL,
  token_sha256 text,
  address text,
  user_agent text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_seen_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  ended_by text
);
CREATE TABLE dagapp.dag_archived_jobs (
  job_id text NOT NULL,
  archive_id bigint NOT NULL
);
CREATE TABLE dagapp.dag_archives (
  archive_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  class text NOT NULL,
  path text NOT NULL,
  row_count integer NOT NULL,
  bytes bigint NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_blob_assets (
  path text NOT NULL,
  zone text NOT NULL GENERATED ALWAYS AS (split_part(path, '/'::text, 1)) STORED,
  bytes bigint,
  job_id text,
  node_id text,
  known_at timestamp with time zone NOT NULL DEFAULT now(),
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  gone_at timestamp with time zone
);
CREATE TABLE dagapp.dag_checkpoints (
  job_id text NOT NULL,
  node_id text NOT NULL,
  seq integer NOT NULL,
  task_id text NOT NULL,
  phase text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_dataset_refs (
  source_kind text NOT NULL,
  source_id text NOT NULL,
  target_kind text NOT NULL,
  target_id text NOT NULL,
  relation text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_external_services (
  service_id text NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  url text NOT NULL,
  health_url text,
  attribution text,
  is_active boolean NOT NULL DEFAULT true,
  health text NOT NULL DEFAULT 'unknown'::text,
  health_error text,
  latency_ms integer,
  failures integer NOT NULL DEFAULT 0,
  checked_at timestamp with time zone,
  updated_by text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_handler_offers (
  worker_id text NOT NULL,
  handler text NOT NULL,
  contract_hash text NOT NULL
);
CREATE TABLE dagapp.dag_handlers (
  handler text NOT NULL,
  contract_hash text NOT NULL,
  contract jsonb NOT NULL,
  first_offered_at timestamp with time zone NOT NULL DEFAULT now(),
  last_offered_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_job_events (
  job_id text NOT NULL,
  seq integer NOT NULL,
  event_type text NOT NULL,
  event_status dagapp.event_status NOT NULL DEFAULT 'info'::dagapp.event_status,
  node_id text,
  task_id text,
  event_data jsonb,
  checkpoint_name text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  children integer[],
  earlier jsonb
)
WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.02);
CREATE TABLE dagapp.dag_jobs (
  job_id dagapp.job_key NOT NULL,
  workflow_id text NOT NULL,
  workflow_hash text NOT NULL,
  workflow_version text NOT NULL,
  status dagapp.job_status NOT NULL DEFAULT 'pending'::dagapp.job_status,
  priority dagapp.priority NOT NULL DEFAULT 0,
  input_params jsonb NOT NULL DEFAULT '{}'::jsonb,
  result_data jsonb,
  error_code text,
  error_message text,
  failed_node_id text,
  owner_id text,
  correlation_id text,
  idempotency_key text,
  submitted_by text,
  callback_url text,
  rerun_of text,
  paused_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  cancel_reason text,
  dirty boolean NOT NULL DEFAULT false,
  nodes_total integer NOT NULL,
  nodes_unsettled dagapp.natural_number NOT NULL,
  event_seq integer NOT NULL DEFAULT 0,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  version integer NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  completed_at timestamp with time zone,
  trace_parent character varying(55)
)
WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.02, fillfactor=70);
CREATE TABLE dagapp.dag_node_states (
  job_id text NOT NULL,
  node_id text NOT NULL,
  node_type dagapp.node_type NOT NULL,
  status dagapp.node_status NOT NULL DEFAULT 'pending'::dagapp.node_status,
  parent_node_id text,
  fan_out_index integer,
  attempt dagapp.natural_number NOT NULL DEFAULT 0,
  retry_count dagapp.natural_number NOT NULL DEFAULT 0,
  throttle_count dagapp.natural_number NOT NULL DEFAULT 0,
  max_retries dagapp.natural_number NOT NULL DEFAULT 0,
  task_id text,
  handler text,
  queue text,
  timeout_seconds integer,
  input_params jsonb,
  output dagapp.jsonb_object,
  error jsonb,
  worker_id text,
  retry_at timestamp with time zone,
  fan_out jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  dispatched_at timestamp with time zone,
  started_at timestamp with time zone,
  completed_at timestamp with time zone
)
WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.02, fillfactor=40);
CREATE TABLE dagapp.dag_orchestrators (
  owner_id text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  watches boolean NOT NULL DEFAULT false,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  heartbeat_at timestamp with time zone NOT NULL DEFAULT now()
)
WITH (fillfactor=50);
CREATE TABLE dagapp.dag_push_servers (
  holder text NOT NULL,
  host text NOT NULL,
  address text NOT NULL,
  key text NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_queue_dead (
  message_id bigint NOT NULL,
  queue text NOT NULL,
  priority smallint NOT NULL,
  deliveries integer NOT NULL,
  released integer NOT NULL,
  message_key text NOT NULL,
  group_key text,
  headers jsonb,
  body text NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  reason text NOT NULL,
  detail text,
  died_at timestamp with time zone NOT NULL DEFAULT now(),
  handled boolean NOT NULL DEFAULT false,
  lost integer NOT NULL DEFAULT 0
);
CREATE TABLE dagapp.dag_queue_leases (
  message_id bigint NOT NULL,
  queue text NOT NULL,
  priority smallint NOT NULL,
  deliveries integer NOT NULL,
  released integer NOT NULL,
  message_key text NOT NULL,
  group_key text,
  headers jsonb,
  body text NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  holder text NOT NULL,
  leased_at timestamp with time zone NOT NULL DEFAULT now(),
  until timestamp with time zone NOT NULL,
  cancelled boolean NOT NULL DEFAULT false,
  progress_percent real,
  progress_message text,
  lost integer NOT NULL DEFAULT 0,
  suspect text
)
WITH (fillfactor=90);
CREATE TABLE dagapp.dag_queue_ready (
  message_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  queue text NOT NULL,
  priority smallint NOT NULL DEFAULT 0,
  visible_at timestamp with time zone,
  deliveries integer NOT NULL DEFAULT 0,
  released integer NOT NULL DEFAULT 0,
  message_key text NOT NULL,
  group_key text,
  headers jsonb,
  body text NOT NULL,
  enqueued_at timestamp with time zone NOT NULL DEFAULT now(),
  lost integer NOT NULL DEFAULT 0,
  suspect text
);
CREATE TABLE dagapp.dag_queue_seen (
  queue text NOT NULL,
  message_key text NOT NULL,
  until timestamp with time zone NOT NULL
);
CREATE TABLE dagapp.dag_queues (
  queue text NOT NULL,
  lease_ms integer NOT NULL,
  max_deliveries integer NOT NULL,
  dedupe_ms integer NOT NULL DEFAULT 0
);
CREATE TABLE dagapp.dag_retention (
  class text NOT NULL,
  pass_started_at timestamp with time zone,
  pass_finished_at timestamp with time zone,
  after_created_at timestamp with time zone,
  after_job_id text,
  removed_rows bigint NOT NULL DEFAULT 0,
  archived_rows bigint NOT NULL DEFAULT 0
);
CREATE TABLE dagapp.dag_task_inbox (
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  task_id text NOT NULL,
  job_id text NOT NULL
);
CREATE TABLE dagapp.dag_task_logs (
  log_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  job_id text NOT NULL,
  node_id text NOT NULL,
  task_id text NOT NULL,
  level text NOT NULL,
  message text NOT NULL,
  data jsonb,
  logged_at timestamp with time zone NOT NULL DEFAULT now()
)
WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.02);
CREATE TABLE dagapp.dag_task_metrics (
  task_id text NOT NULL,
  job_id text NOT NULL,
  metrics jsonb,
  execution_duration_ms double precision,
  reported_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_task_requests (
  task_id text NOT NULL,
  job_id text NOT NULL,
  action text NOT NULL,
  params jsonb NOT NULL,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  answer jsonb,
  answered_at timestamp with time zone
);
CREATE TABLE dagapp.dag_task_results (
  task_id text NOT NULL,
  job_id text NOT NULL,
  node_id text NOT NULL,
  status dagapp.task_status NOT NULL,
  output jsonb,
  error jsonb,
  worker_id text,
  started_at timestamp with time zone,
  reported_at timestamp with time zone NOT NULL DEFAULT now()
)
WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.02);
CREATE TABLE dagapp.dag_workers (
  worker_id text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  queues text[] NOT NULL,
  slots integer NOT NULL,
  busy integer NOT NULL DEFAULT 0,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  heartbeat_at timestamp with time zone NOT NULL DEFAULT now(),
  gdal jsonb
)
WITH (fillfactor=50);
CREATE TABLE dagapp.dag_workflow_versions (
  workflow_hash text NOT NULL,
  workflow_id text NOT NULL,
  version text NOT NULL,
  definition jsonb NOT NULL,
  source text,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_workflows (
  workflow_id text NOT NULL,
  workflow_hash text NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.external_publications (
  asset_id text NOT NULL,
  version_ordinal integer NOT NULL,
  revision integer NOT NULL,
  published_by text NOT NULL,
  published_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.fathom_rasters (
  dataset text NOT NULL,
  phase text NOT NULL,
  product text NOT NULL,
  place text NOT NULL,
  attributes jsonb NOT NULL,
  return_periods integer[] NOT NULL,
  inputs jsonb NOT NULL,
  input_hash text NOT NULL,
  grid_degrees integer NOT NULL,
  made_of text,
  path text,
  bytes bigint,
  etag text,
  checksum text,
  facts jsonb,
  made_at timestamp with time zone,
  registered text,
  job_id text NOT NULL,
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.geo_load_chunks (
  load_id text NOT NULL,
  table_name text NOT NULL,
  chunk_index integer NOT NULL,
  row_count bigint NOT NULL,
  loaded_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.geo_loads (
  load_id text NOT NULL,
  table_name text NOT NULL,
  loading_table text NOT NULL,
  form dagapp.geometry_form NOT NULL,
  geometry_type text NOT NULL,
  columns jsonb NOT NULL,
  feature_count bigint NOT NULL,
  bounds double precision[],
  chunk_count integer NOT NULL,
  job_id text,
  started_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.geo_tables (
  table_name text NOT NULL,
  load_id text NOT NULL,
  form dagapp.geometry_form NOT NULL,
  geometry_type text NOT NULL,
  columns jsonb NOT NULL,
  feature_count bigint NOT NULL,
  bounds double precision[],
  job_id text,
  published_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.geospatial_assets (
  asset_id text NOT NULL,
  platform_id text NOT NULL,
  platform_refs jsonb NOT NULL,
  clearance_state dagapp.clearance_state NOT NULL DEFAULT 'uncleared'::dagapp.clearance_state,
  cleared_at timestamp with time zone,
  cleared_by text,
  made_public_at timestamp with time zone,
  made_public_by text,
  exposure dagapp.exposure NOT NULL DEFAULT 'latest-only'::dagapp.exposure,
  latest_approved_version_ordinal integer,
  row_version integer NOT NULL DEFAULT 1,
  deleted_at timestamp with time zone,
  deleted_by text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.h3_combined_sources (
  combination text NOT NULL,
  source jsonb NOT NULL,
  configuration jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.h3_computation_runs (
  run_id text NOT NULL,
  raster text NOT NULL,
  period text NOT NULL,
  origin text NOT NULL,
  source_tag text NOT NULL,
  source_path text NOT NULL,
  wkt2 text NOT NULL,
  bbox double precision[] NOT NULL,
  configuration jsonb NOT NULL,
  findings jsonb NOT NULL DEFAULT '[]'::jsonb,
  chunk_count integer NOT NULL,
  job_id text NOT NULL,
  status text NOT NULL DEFAULT 'running'::text,
  row_count bigint,
  collection_id text,
  item_id text,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  finished_at timestamp with time zone,
  kind text NOT NULL DEFAULT 'raster'::text
);
CREATE TABLE dagapp.h3_output_manifest (
  path text NOT NULL,
  run_id text NOT NULL,
  resolution smallint NOT NULL,
  h3_l3 text,
  row_count bigint NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  written_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.h3_raster_sources (
  raster text NOT NULL,
  source jsonb NOT NULL,
  configuration jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.h3_vector_sources (
  layer text NOT NULL,
  source jsonb NOT NULL,
  configuration jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.layer_catalog (
  asset_id text NOT NULL,
  version_ordinal integer NOT NULL,
  layer_type text NOT NULL,
  stac_collection_id text,
  stac_item_id text,
  layer jsonb NOT NULL,
  published_by text NOT NULL,
  published_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.layer_metadata (
  asset_id text NOT NULL,
  display_name text NOT NULL,
  description text,
  attribution text,
  keywords text[] NOT NULL DEFAULT '{}'::text[],
  style jsonb,
  legend jsonb,
  field_metadata jsonb,
  min_zoom smallint,
  max_zoom smallint,
  thumbnail text,
  row_version integer NOT NULL DEFAULT 1,
  updated_by text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.login_codes (
  sha256 text NOT NULL,
  name text NOT NULL,
  access text[] NOT NULL,
  token_sha256 text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone
);
CREATE TABLE dagapp.platform_callbacks (
  platform_id text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  event_types text[] NOT NULL DEFAULT '{}'::text[],
  is_active boolean NOT NULL DEFAULT true,
  secret_number integer NOT NULL DEFAULT 1,
  secret_changed_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.platforms (
  platform_id text NOT NULL,
  display_name text NOT NULL,
  required_refs text[] NOT NULL,
  optional_refs text[] NOT NULL DEFAULT '{}'::text[],
  version_ref text,
  is_active boolean NOT NULL DEFAULT true,
  callback_url text,
  callback_hosts text[] NOT NULL DEFAULT '{}'::text[],
  source_prefixes text[] NOT NULL DEFAULT '{}'::text[],
  secret_number integer NOT NULL DEFAULT 1,
  secret_changed_at timestamp with time zone,
  row_version integer NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  collections text[] NOT NULL DEFAULT '{}'::text[]
);
CREATE TABLE dagapp.requests (
  request_id text NOT NULL,
  platform_id text NOT NULL,
  kind dagapp.request_kind NOT NULL,
  workflow_id text NOT NULL,
  asset_id text NOT NULL,
  version_ordinal integer NOT NULL,
  revision integer NOT NULL,
  inputs jsonb NOT NULL,
  body_hash text NOT NULL,
  submitted_by text NOT NULL,
  idempotency_key text,
  callback_url text,
  priority smallint NOT NULL DEFAULT 0,
  job_id text NOT NULL,
  status dagapp.request_status NOT NULL DEFAULT 'pending'::dagapp.request_status,
  result jsonb,
  error jsonb,
  submitted_at timestamp with time zone NOT NULL DEFAULT now(),
  completed_at timestamp with time zone
)
WITH (fillfactor=80);
CREATE TABLE dagapp.schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  oldest_program integer
);
CREATE TABLE dagapp.stac_collections (
  collection_id text NOT NULL,
  collection jsonb NOT NULL,
  coverage jsonb,
  item_count integer NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  platform_id text,
  is_operators boolean NOT NULL DEFAULT false
);
CREATE TABLE dagapp.stac_items (
  collection_id text NOT NULL,
  item_id text NOT NULL,
  item jsonb NOT NULL,
  properties jsonb NOT NULL GENERATED ALWAYS AS ((item -> 'properties'::text)) STORED,
  request_id text GENERATED ALWAYS AS (((item -> 'properties'::text) ->> 'platform:request_id'::text)) STORED,
  box box NOT NULL,
  box_beyond box,
  starts_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  paths text[] NOT NULL DEFAULT '{}'::text[],
  tables text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  asset_id text,
  version_ordinal integer,
  is_operators boolean NOT NULL DEFAULT false
);
CREATE TABLE dagapp.stac_revision_items (
  asset_id text NOT NULL,
  version_ordinal integer NOT NULL,
  revision integer NOT NULL,
  collection_id text NOT NULL,
  item_id text NOT NULL,
  item jsonb NOT NULL,
  box box NOT NULL,
  box_beyond box,
  starts_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  paths text[] NOT NULL DEFAULT '{}'::text[],
  tables text[] NOT NULL DEFAULT '{}'::text[]
);
CREATE TABLE dagapp.uploads (
  upload_id text NOT NULL,
  path text NOT NULL,
  length bigint NOT NULL,
  received bigint NOT NULL DEFAULT 0,
  sha256 text,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  replaces boolean NOT NULL DEFAULT false,
  platform_id text,
  created_by text NOT NULL,
  writer text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  completed_at timestamp with time zone
);

CREATE OR REPLACE FUNCTION dagapp.add_dataset_ref(source_kind text, source_id text, target_kind text, target_id text, relation text)
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO dagapp.dag_dataset_refs (source_kind, source_id, target_kind, target_id, relation)
  SELECT $1, $2, $3, $4, $5
  WHERE $2 IS NOT NULL AND $4 IS NOT NULL AND ($1, $2) <> ($3, $4)
  ON CONFLICT DO NOTHING
$function$
;
CREATE OR REPLACE FUNCTION dagapp.expect(holds boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT holds THEN
    RAISE EXCEPTION 'the expected state has changed' USING ERRCODE = 'serialization_failure';
  END IF;
END $function$
;
CREATE OR REPLACE FUNCTION dagapp.forget_item()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  name text := OLD.collection_id || '/' || OLD.item_id;
BEGIN
  IF EXISTS (SELECT FROM dagapp.stac_items i
             WHERE (i.collection_id, i.item_id) = (OLD.collection_id, OLD.item_id))
    OR EXISTS (SELECT FROM dagapp.stac_revision_items i
               WHERE (i.collection_id, i.item_id) = (OLD.collection_id, OLD.item_id)) THEN
    RETURN NULL;
  END IF;
  DELETE FROM dagapp.dag_dataset_refs
  WHERE (source_kind, source_id) = ('item', name) OR (target_kind, target_id) = ('item', name);
  RETURN NULL;
END $function$
;
CREATE OR REPLACE FUNCTION dagapp.guard_job_transition()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.status = NEW.status OR (CASE OLD.status
    WHEN 'pending' THEN NEW.status IN ('running', 'cancelled')
    WHEN 'running' THEN NEW.status IN ('completed', 'failed', 'cancelled')
    ELSE false END)
  THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'job may not go from % to %', OLD.status, NEW.status
    USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition';
END $function$
;
CREATE OR REPLACE FUNCTION dagapp.guard_node_transition()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.status = NEW.status OR (CASE OLD.status
    WHEN 'pending' THEN NEW.status IN
      ('ready', 'dispatched', 'running', 'completed', 'failed', 'skipped', 'cancelled')
    WHEN 'ready' THEN NEW.status IN
      ('dispatched', 'running', 'completed', 'failed', 'skipped', 'cancelled')
    WHEN 'dispatched' THEN NEW.status IN ('running', 'completed', 'failed', 'ready', 'cancelled')
    WHEN 'running' THEN NEW.status IN ('completed', 'failed', 'ready', 'cancelled')
    WHEN 'failed' THEN NEW.status = 'ready'
    ELSE false END)
  THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'node may not go from % to %', OLD.status, NEW.status
    USING ERRCODE = 'check_violation', CONSTRAINT = 'node_transition';
END $function$
;
CREATE OR REPLACE FUNCTION dagapp.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[1]
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_ARGV[0];
END $function$
;
CREATE OR REPLACE FUNCTION dagapp.stac_moment(value jsonb)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN CASE WHEN jsonb_typeof(value) = 'string' THEN (value #>> '{}')::timestamptz END;
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END $function$
;
CREATE OR REPLACE FUNCTION dagapp.trace_export()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.external_blob_path IS NOT NULL THEN
    DELETE FROM dagapp.dag_dataset_refs
    WHERE target_kind = 'file' AND target_id = OLD.external_blob_path AND relation = 'exported_as';
    UPDATE dagapp.dag_blob_assets SET gone_at = now() WHERE path = OLD.external_blob_path;
  END IF;
  IF NEW.external_blob_path IS NOT NULL THEN
    INSERT INTO dagapp.dag_blob_assets (path, job_id)
    VALUES (NEW.external_blob_path, NEW.export_job_id)
    ON CONFLICT (path) DO UPDATE SET gone_at = NULL;
    PERFORM dagapp.add_dataset_ref(
      'file', NEW.blob_path, 'file', NEW.external_blob_path, 'exported_as');
    PERFORM dagapp.add_dataset_ref('version', NEW.asset_id || '/' || NEW.version_ordinal,
      'file', NEW.external_blob_path, 'exported_as');
  END IF;
  RETURN NULL;
END $function$
;
CREATE OR REPLACE FUNCTION dagapp.trace_written_items()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
BEGIN
  DELETE FROM dagapp.dag_dataset_refs WHERE ctid = ANY (ARRAY(
    SELECT known.ctid FROM written CROSS JOIN LATERAL (
      SELECT ref.ctid FROM dagapp.dag_dataset_refs ref
      WHERE ref.target_kind = 'item' AND ref.relation = 'described_by'
        AND ref.target_id = written.collection_id || '/' || written.item_id
      -- Keeps the order: for each item, its references.
      OFFSET 0
    ) AS known
  ));
  INSERT INTO dagapp.dag_blob_assets (path, job_id)
  SELECT path, (SELECT job_id::text FROM dagapp.dag_jobs WHERE job_id = split_part(path, '/', 2))
  FROM (SELECT DISTINCT unnest(paths) AS path FROM written ORDER BY path) AS files
  ON CONFLICT (path) DO UPDATE SET gone_at = NULL WHERE dag_blob_assets.gone_at IS NOT NULL;
  INSERT INTO dagapp.dag_dataset_refs (source_kind, source_id, target_kind, target_id, relation)
  WITH item AS (
    SELECT collection_id || '/' || item_id AS name, paths, tables,
      item #>> '{properties,rmhdag:derived_from}' AS made_of,
      asset_id || '/' || version_ordinal AS version
    FROM written
  ), file AS (
    SELECT name, made_of, path,
      (SELECT job_id::text FROM dagapp.dag_jobs WHERE job_id = split_part(path, '/', 2)) AS made_by
    FROM item CROSS JOIN LATERAL unnest(paths) AS path
  ), layer AS (
    SELECT name, made_of, layer FROM item CROSS JOIN LATERAL unnest(tables) AS layer
  )
  SELECT * FROM (
    SELECT 'file', path, 'item', name, 'described_by' FROM file
    UNION ALL SELECT 'file', made_of, 'file', path, 'made_into' FROM file
    UNION ALL SELECT 'job', made_by, 'file', path, 'wrote' FROM file
    UNION ALL SELECT 'file', made_of, 'job', made_by, 'read_by' FROM file
    UNION ALL SELECT 'table', layer, 'item', name, 'described_by' FROM layer
    UNION ALL SELECT 'file', made_of, 'table', layer, 'made_into' FROM layer
    UNION ALL SELECT 'item', name, 'version', version, 'part_of' FROM item
  ) AS ref (source_kind, source_id, target_kind, target_id, relation)
  WHERE source_id IS NOT NULL AND target_id IS NOT NULL
    AND (source_kind, source_id) <> (target_kind, target_id)
  ORDER BY source_kind, source_id, target_kind, target_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$
;

ALTER TABLE dagapp.access_tokens ADD CONSTRAINT access_tokens_pkey PRIMARY KEY (token_id);
ALTER TABLE dagapp.access_tokens ADD CONSTRAINT access_tokens_sha256_key UNIQUE (sha256);
ALTER TABLE dagapp.access_tokens ADD CONSTRAINT access_token_ends CHECK ((expires_at > created_at));
ALTER TABLE dagapp.access_tokens ADD CONSTRAINT access_tokens_access_check CHECK ((cardinality(access) > 0));
ALTER TABLE dagapp.access_tokens ADD CONSTRAINT access_tokens_name_check CHECK ((name ~ '^[A-Za-z0-9_.-]{1,64}$'::text));
ALTER TABLE dagapp.access_tokens ADD CONSTRAINT access_tokens_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.api_keys ADD CONSTRAINT api_keys_pkey PRIMARY KEY (key_id);
ALTER TABLE dagapp.api_keys ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);
ALTER TABLE dagapp.api_keys ADD CONSTRAINT api_keys_key_hash_check CHECK ((key_hash ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.api_keys ADD CONSTRAINT api_keys_key_id_check CHECK ((key_id ~ '^[0-9a-f]{12}$'::text));
ALTER TABLE dagapp.api_keys ADD CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ '{submit,read,curate,admin}'::text[])));
ALTER TABLE dagapp.api_keys ADD CONSTRAINT revoked_by_somebody CHECK (((revoked_at IS NULL) = (revoked_by IS NULL)));
ALTER TABLE dagapp.asset_events ADD CONSTRAINT asset_events_pkey PRIMARY KEY (event_id);
ALTER TABLE dagapp.asset_jobs ADD CONSTRAINT asset_jobs_pkey PRIMARY KEY (job_id);
ALTER TABLE dagapp.asset_revisions ADD CONSTRAINT asset_revisions_pkey PRIMARY KEY (asset_id, version_ordinal, revision);
ALTER TABLE dagapp.asset_revisions ADD CONSTRAINT asset_revisions_revision_check CHECK ((revision > 0));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT asset_versions_pkey PRIMARY KEY (asset_id, version_ordinal);
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT asset_versions_revision_check CHECK ((revision > 0));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT asset_versions_version_ordinal_check CHECK ((version_ordinal >= 0));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT deleted_by_somebody CHECK (((deleted_at IS NULL) = (deleted_by IS NULL)));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT exported_has_a_place CHECK (((export_state <> 'completed'::dagapp.export_state) OR (external_blob_path IS NOT NULL)));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT failed_with_an_error CHECK (((processing_state = 'failed'::dagapp.processing_state) = (processing_error IS NOT NULL)));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT rejected_for_a_reason CHECK (((approval_state = 'rejected'::dagapp.approval_state) = (rejection_reason IS NOT NULL)));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT reviewed_by_somebody CHECK (((approval_state = 'pending_review'::dagapp.approval_state) OR ((reviewer IS NOT NULL) AND (reviewed_at IS NOT NULL))));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT served_was_made CHECK (((served_revision IS NULL) OR (served_revision <= revision)));
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT withdrawn_waits CHECK (((withdrawn_at IS NULL) OR (approval_state <> 'approved'::dagapp.approval_state)));
ALTER TABLE dagapp.callback_attempts ADD CONSTRAINT callback_attempts_pkey PRIMARY KEY (event_id, attempt);
ALTER TABLE dagapp.callback_deliveries ADD CONSTRAINT callback_deliveries_pkey PRIMARY KEY (event_id);
ALTER TABLE dagapp.callback_deliveries ADD CONSTRAINT delivered_has_a_time CHECK (((state = 'delivered'::dagapp.delivery_state) = (delivered_at IS NOT NULL)));
ALTER TABLE dagapp.callback_deliveries ADD CONSTRAINT of_a_request_or_a_job CHECK ((((platform_id IS NULL) = (request_id IS NULL)) AND ((request_id IS NULL) = (job_id IS NOT NULL))));
ALTER TABLE dagapp.callback_hosts ADD CONSTRAINT callback_hosts_pkey PRIMARY KEY (host);
ALTER TABLE dagapp.console_sessions ADD CONSTRAINT console_sessions_pkey PRIMARY KEY (session_id);
ALTER TABLE dagapp.console_sessions ADD CONSTRAINT console_sessions_sha256_key UNIQUE (sha256);
ALTER TABLE dagapp.console_sessions ADD CONSTRAINT console_sessions_access_check CHECK ((cardinality(access) > 0));
ALTER TABLE dagapp.console_sessions ADD CONSTRAINT console_sessions_opened_with_check CHECK ((opened_with = ANY (ARRAY['code'::text, 'token'::text])));
ALTER TABLE dagapp.console_sessions ADD CONSTRAINT console_sessions_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.console_sessions ADD CONSTRAINT session_ends CHECK ((expires_at > created_at));
ALTER TABLE dagapp.dag_archived_jobs ADD CONSTRAINT dag_archived_jobs_pkey PRIMARY KEY (job_id, archive_id);
ALTER TABLE dagapp.dag_archives ADD CONSTRAINT dag_archives_pkey PRIMARY KEY (archive_id);
ALTER TABLE dagapp.dag_archives ADD CONSTRAINT dag_archives_path_key UNIQUE (path);
ALTER TABLE dagapp.dag_archives ADD CONSTRAINT dag_archives_bytes_check CHECK ((bytes > 0));
ALTER TABLE dagapp.dag_archives ADD CONSTRAINT dag_archives_row_count_check CHECK ((row_count > 0));
ALTER TABLE dagapp.dag_blob_assets ADD CONSTRAINT dag_blob_assets_pkey PRIMARY KEY (path);
ALTER TABLE dagapp.dag_blob_assets ADD CONSTRAINT dag_blob_assets_bytes_check CHECK ((bytes >= 0));
ALTER TABLE dagapp.dag_blob_assets ADD CONSTRAINT dag_blob_assets_path_check CHECK ((path ~ '^[a-z]+/.'::text));
ALTER TABLE dagapp.dag_checkpoints ADD CONSTRAINT dag_checkpoints_pkey PRIMARY KEY (job_id, node_id, seq);
ALTER TABLE dagapp.dag_checkpoints ADD CONSTRAINT dag_checkpoints_seq_check CHECK ((seq > 0));
ALTER TABLE dagapp.dag_dataset_refs ADD CONSTRAINT dag_dataset_refs_pkey PRIMARY KEY (source_kind, source_id, target_kind, target_id, relation);
ALTER TABLE dagapp.dag_dataset_refs ADD CONSTRAINT dag_dataset_refs_relation_check CHECK ((relation = ANY (ARRAY['read_by'::text, 'wrote'::text, 'made_into'::text, 'described_by'::text, 'part_of'::text, 'exported_as'::text])));
ALTER TABLE dagapp.dag_dataset_refs ADD CONSTRAINT dag_dataset_refs_source_kind_check CHECK ((source_kind = ANY (ARRAY['file'::text, 'table'::text, 'item'::text, 'version'::text, 'job'::text])));
ALTER TABLE dagapp.dag_dataset_refs ADD CONSTRAINT dag_dataset_refs_target_kind_check CHECK ((target_kind = ANY (ARRAY['file'::text, 'table'::text, 'item'::text, 'version'::text, 'job'::text])));
ALTER TABLE dagapp.dag_dataset_refs ADD CONSTRAINT not_of_itself CHECK (((source_kind <> target_kind) OR (source_id <> target_id)));
ALTER TABLE dagapp.dag_external_services ADD CONSTRAINT dag_external_services_pkey PRIMARY KEY (service_id);
ALTER TABLE dagapp.dag_external_services ADD CONSTRAINT dag_external_services_health_check CHECK ((health = ANY (ARRAY['unknown'::text, 'ok'::text, 'failing'::text])));
ALTER TABLE dagapp.dag_external_services ADD CONSTRAINT dag_external_services_kind_check CHECK ((kind = ANY (ARRAY['xyz'::text, 'wms'::text, 'wmts'::text, 'ogc_features'::text, 'ogc_tiles'::text, 'stac'::text, 'arcgis'::text, 'webhook'::text, 'data_factory'::text, 'other'::text])));
ALTER TABLE dagapp.dag_external_services ADD CONSTRAINT dag_external_services_service_id_check CHECK ((service_id ~ '^[a-z][a-z0-9_-]{0,62}$'::text));
ALTER TABLE dagapp.dag_external_services ADD CONSTRAINT failing_says_why CHECK (((health = 'failing'::text) = (health_error IS NOT NULL)));
ALTER TABLE dagapp.dag_handler_offers ADD CONSTRAINT dag_handler_offers_pkey PRIMARY KEY (worker_id, handler);
ALTER TABLE dagapp.dag_handlers ADD CONSTRAINT dag_handlers_pkey PRIMARY KEY (handler, contract_hash);
ALTER TABLE dagapp.dag_handlers ADD CONSTRAINT dag_handlers_contract_hash_check CHECK ((contract_hash ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.dag_job_events ADD CONSTRAINT dag_job_events_pkey PRIMARY KEY (job_id, seq);
ALTER TABLE dagapp.dag_job_events ADD CONSTRAINT dag_job_events_seq_check CHECK ((seq > 0));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_pkey PRIMARY KEY (job_id);
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT cancelled_was_requested CHECK (((status <> 'cancelled'::dagapp.job_status) OR (cancel_requested_at IS NOT NULL)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT completed_is_settled CHECK (((status <> 'completed'::dagapp.job_status) OR ((nodes_unsettled)::integer = 0)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT failed_has_a_reason CHECK (((status <> 'failed'::dagapp.job_status) OR (error_message IS NOT NULL)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT finished_has_a_time CHECK (((status >= 'completed'::dagapp.job_status) = (completed_at IS NOT NULL)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT started_has_a_time CHECK (((status = 'pending'::dagapp.job_status) OR (status = 'cancelled'::dagapp.job_status) OR (started_at IS NOT NULL)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT unsettled_of_total CHECK (((nodes_unsettled)::integer <= nodes_total));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dag_node_states_pkey PRIMARY KEY (job_id, node_id);
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT child_has_an_index CHECK (((parent_node_id IS NULL) = (fan_out_index IS NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dispatched_has_a_task CHECK (((status <> 'dispatched'::dagapp.node_status) OR (task_id IS NOT NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT failed_has_an_error CHECK (((status <> 'failed'::dagapp.node_status) OR (error IS NOT NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT only_a_fan_out_has_children CHECK (((fan_out IS NULL) OR (node_type = 'fan_out'::dagapp.node_type)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT retry_waits_in_ready CHECK (((retry_at IS NULL) OR (status = 'ready'::dagapp.node_status)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT settled_has_a_time CHECK (((status >= 'completed'::dagapp.node_status) = (completed_at IS NOT NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT skipped_has_no_output CHECK (((status <> 'skipped'::dagapp.node_status) OR (output IS NULL)));
ALTER TABLE dagapp.dag_orchestrators ADD CONSTRAINT dag_orchestrators_pkey PRIMARY KEY (owner_id);
ALTER TABLE dagapp.dag_push_servers ADD CONSTRAINT dag_push_servers_pkey PRIMARY KEY (holder);
ALTER TABLE dagapp.dag_queue_dead ADD CONSTRAINT dag_queue_dead_pkey PRIMARY KEY (message_id);
ALTER TABLE dagapp.dag_queue_leases ADD CONSTRAINT dag_queue_leases_pkey PRIMARY KEY (message_id);
ALTER TABLE dagapp.dag_queue_seen ADD CONSTRAINT dag_queue_seen_pkey PRIMARY KEY (queue, message_key);
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_pkey PRIMARY KEY (queue);
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_dedupe_ms_check CHECK ((dedupe_ms >= 0));
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_lease_ms_check CHECK ((lease_ms > 0));
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_max_deliveries_check CHECK ((max_deliveries > 0));
ALTER TABLE dagapp.dag_retention ADD CONSTRAINT dag_retention_pkey PRIMARY KEY (class);
ALTER TABLE dagapp.dag_retention ADD CONSTRAINT finished_after_its_start CHECK ((pass_finished_at >= pass_started_at));
ALTER TABLE dagapp.dag_task_inbox ADD CONSTRAINT dag_task_inbox_pkey PRIMARY KEY (seq);
ALTER TABLE dagapp.dag_task_logs ADD CONSTRAINT dag_task_logs_pkey PRIMARY KEY (log_id);
ALTER TABLE dagapp.dag_task_logs ADD CONSTRAINT dag_task_logs_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text])));
ALTER TABLE dagapp.dag_task_metrics ADD CONSTRAINT dag_task_metrics_pkey PRIMARY KEY (task_id);
ALTER TABLE dagapp.dag_task_requests ADD CONSTRAINT dag_task_requests_pkey PRIMARY KEY (task_id);
ALTER TABLE dagapp.dag_task_requests ADD CONSTRAINT answered_at_a_time CHECK (((answer IS NULL) = (answered_at IS NULL)));
ALTER TABLE dagapp.dag_task_requests ADD CONSTRAINT dag_task_requests_action_check CHECK ((action = ANY (ARRAY['trigger_approval'::text, 'approve'::text, 'reject'::text])));
ALTER TABLE dagapp.dag_task_results ADD CONSTRAINT dag_task_results_pkey PRIMARY KEY (task_id);
ALTER TABLE dagapp.dag_task_results ADD CONSTRAINT completed_has_output CHECK ((((status = 'completed'::dagapp.task_status) = (output IS NOT NULL)) AND ((status = 'failed'::dagapp.task_status) = (error IS NOT NULL))));
ALTER TABLE dagapp.dag_workers ADD CONSTRAINT dag_workers_pkey PRIMARY KEY (worker_id);
ALTER TABLE dagapp.dag_workers ADD CONSTRAINT dag_workers_slots_check CHECK ((slots > 0));
ALTER TABLE dagapp.dag_workflow_versions ADD CONSTRAINT dag_workflow_versions_pkey PRIMARY KEY (workflow_hash);
ALTER TABLE dagapp.dag_workflow_versions ADD CONSTRAINT dag_workflow_versions_workflow_hash_check CHECK ((workflow_hash ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.dag_workflows ADD CONSTRAINT dag_workflows_pkey PRIMARY KEY (workflow_id);
ALTER TABLE dagapp.external_publications ADD CONSTRAINT external_publications_pkey PRIMARY KEY (asset_id);
ALTER TABLE dagapp.external_publications ADD CONSTRAINT external_publications_revision_check CHECK ((revision >= 1));
ALTER TABLE dagapp.external_publications ADD CONSTRAINT external_publications_version_ordinal_check CHECK ((version_ordinal >= 0));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_pkey PRIMARY KEY (dataset, phase, product, place);
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_attributes_check CHECK ((jsonb_typeof(attributes) = 'object'::text));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_bytes_check CHECK ((bytes > 0));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_checksum_check CHECK ((checksum ~ '^1220[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_dataset_check CHECK (((dataset ~ '^[a-z0-9][a-z0-9_-]*$'::text) AND (length(dataset) <= 100)));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_grid_degrees_check CHECK (((grid_degrees >= 1) AND (grid_degrees <= 90)));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_input_hash_check CHECK ((input_hash ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_inputs_check CHECK ((jsonb_typeof(inputs) = 'array'::text));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_phase_check CHECK ((phase = ANY (ARRAY['stack'::text, 'merge'::text])));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_place_check CHECK ((place ~ '^[ns]\d{2}[ew]\d{3}$'::text));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_product_check CHECK (((product ~ '^[a-z0-9][a-z0-9_.-]*$'::text) AND (length(product) <= 200)));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT fathom_rasters_return_periods_check CHECK ((cardinality(return_periods) > 0));
ALTER TABLE dagapp.fathom_rasters ADD CONSTRAINT whole_when_made CHECK ((((made_of IS NULL) = (checksum IS NULL)) AND ((made_of IS NULL) = (path IS NULL)) AND ((made_of IS NULL) = (bytes IS NULL)) AND ((made_of IS NULL) = (facts IS NULL)) AND ((made_of IS NULL) = (made_at IS NULL))));
ALTER TABLE dagapp.geo_load_chunks ADD CONSTRAINT geo_load_chunks_pkey PRIMARY KEY (load_id, table_name, chunk_index);
ALTER TABLE dagapp.geo_load_chunks ADD CONSTRAINT geo_load_chunks_chunk_index_check CHECK ((chunk_index >= 0));
ALTER TABLE dagapp.geo_load_chunks ADD CONSTRAINT geo_load_chunks_row_count_check CHECK ((row_count >= 0));
ALTER TABLE dagapp.geo_loads ADD CONSTRAINT geo_loads_pkey PRIMARY KEY (load_id, table_name);
ALTER TABLE dagapp.geo_loads ADD CONSTRAINT geo_loads_loading_table_key UNIQUE (loading_table);
ALTER TABLE dagapp.geo_loads ADD CONSTRAINT geo_loads_chunk_count_check CHECK ((chunk_count > 0));
ALTER TABLE dagapp.geo_loads ADD CONSTRAINT geo_loads_table_name_check CHECK ((table_name ~ '^[a-z_][a-z0-9_]{0,62}$'::text));
ALTER TABLE dagapp.geo_tables ADD CONSTRAINT geo_tables_pkey PRIMARY KEY (table_name);
ALTER TABLE dagapp.geo_tables ADD CONSTRAINT geo_tables_bounds_check CHECK ((cardinality(bounds) = 4));
ALTER TABLE dagapp.geo_tables ADD CONSTRAINT geo_tables_feature_count_check CHECK ((feature_count >= 0));
ALTER TABLE dagapp.geo_tables ADD CONSTRAINT geo_tables_geometry_type_check CHECK ((geometry_type = ANY (ARRAY['MultiPoint'::text, 'MultiLineString'::text, 'MultiPolygon'::text])));
ALTER TABLE dagapp.geo_tables ADD CONSTRAINT geo_tables_table_name_check CHECK ((table_name ~ '^[a-z_][a-z0-9_]{0,62}$'::text));
ALTER TABLE dagapp.geospatial_assets ADD CONSTRAINT geospatial_assets_pkey PRIMARY KEY (asset_id);
ALTER TABLE dagapp.geospatial_assets ADD CONSTRAINT cleared_by_somebody CHECK (((clearance_state = 'uncleared'::dagapp.clearance_state) OR ((cleared_at IS NOT NULL) AND (cleared_by IS NOT NULL))));
ALTER TABLE dagapp.geospatial_assets ADD CONSTRAINT deleted_by_somebody CHECK (((deleted_at IS NULL) = (deleted_by IS NULL)));
ALTER TABLE dagapp.geospatial_assets ADD CONSTRAINT geospatial_assets_asset_id_check CHECK ((asset_id ~ '^[0-9a-f]{32}$'::text));
ALTER TABLE dagapp.geospatial_assets ADD CONSTRAINT geospatial_assets_platform_refs_check CHECK ((jsonb_typeof(platform_refs) = 'object'::text));
ALTER TABLE dagapp.geospatial_assets ADD CONSTRAINT made_public_by_somebody CHECK (((clearance_state <> 'public'::dagapp.clearance_state) OR ((made_public_at IS NOT NULL) AND (made_public_by IS NOT NULL))));
ALTER TABLE dagapp.h3_combined_sources ADD CONSTRAINT h3_combined_sources_pkey PRIMARY KEY (combination);
ALTER TABLE dagapp.h3_combined_sources ADD CONSTRAINT h3_combined_sources_combination_check CHECK (((combination ~ '^[a-z0-9][a-z0-9_-]*$'::text) AND (length(combination) <= 120)));
ALTER TABLE dagapp.h3_combined_sources ADD CONSTRAINT h3_combined_sources_configuration_check CHECK ((jsonb_typeof(configuration) = 'object'::text));
ALTER TABLE dagapp.h3_combined_sources ADD CONSTRAINT h3_combined_sources_source_check CHECK ((jsonb_typeof(source) = 'object'::text));
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT h3_computation_runs_pkey PRIMARY KEY (run_id);
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT finished_when_completed CHECK (((status = 'completed'::text) = (finished_at IS NOT NULL)));
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT h3_computation_runs_bbox_check CHECK ((array_length(bbox, 1) = 4));
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT h3_computation_runs_chunk_count_check CHECK ((chunk_count >= 0));
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT h3_computation_runs_kind_check CHECK ((kind = ANY (ARRAY['raster'::text, 'vector'::text, 'combined'::text])));
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT h3_computation_runs_row_count_check CHECK ((row_count >= 0));
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT h3_computation_runs_run_id_check CHECK ((run_id ~ '^[0-9a-f]{32}$'::text));
ALTER TABLE dagapp.h3_computation_runs ADD CONSTRAINT h3_computation_runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text])));
ALTER TABLE dagapp.h3_output_manifest ADD CONSTRAINT h3_output_manifest_pkey PRIMARY KEY (path);
ALTER TABLE dagapp.h3_output_manifest ADD CONSTRAINT bytes_of_rows CHECK (((row_count = 0) = (bytes = 0)));
ALTER TABLE dagapp.h3_output_manifest ADD CONSTRAINT h3_output_manifest_bytes_check CHECK ((bytes >= 0));
ALTER TABLE dagapp.h3_output_manifest ADD CONSTRAINT h3_output_manifest_h3_l3_check CHECK ((h3_l3 ~ '^[0-9a-f]{15}$'::text));
ALTER TABLE dagapp.h3_output_manifest ADD CONSTRAINT h3_output_manifest_resolution_check CHECK (((resolution >= 0) AND (resolution <= 15)));
ALTER TABLE dagapp.h3_output_manifest ADD CONSTRAINT h3_output_manifest_row_count_check CHECK ((row_count >= 0));
ALTER TABLE dagapp.h3_raster_sources ADD CONSTRAINT h3_raster_sources_pkey PRIMARY KEY (raster);
ALTER TABLE dagapp.h3_raster_sources ADD CONSTRAINT h3_raster_sources_configuration_check CHECK ((jsonb_typeof(configuration) = 'object'::text));
ALTER TABLE dagapp.h3_raster_sources ADD CONSTRAINT h3_raster_sources_raster_check CHECK (((raster ~ '^[a-z0-9][a-z0-9_-]*$'::text) AND (length(raster) <= 120)));
ALTER TABLE dagapp.h3_raster_sources ADD CONSTRAINT h3_raster_sources_source_check CHECK ((jsonb_typeof(source) = 'object'::text));
ALTER TABLE dagapp.h3_vector_sources ADD CONSTRAINT h3_vector_sources_pkey PRIMARY KEY (layer);
ALTER TABLE dagapp.h3_vector_sources ADD CONSTRAINT h3_vector_sources_configuration_check CHECK ((jsonb_typeof(configuration) = 'object'::text));
ALTER TABLE dagapp.h3_vector_sources ADD CONSTRAINT h3_vector_sources_layer_check CHECK (((layer ~ '^[a-z0-9][a-z0-9_-]*$'::text) AND (length(layer) <= 120)));
ALTER TABLE dagapp.h3_vector_sources ADD CONSTRAINT h3_vector_sources_source_check CHECK ((jsonb_typeof(source) = 'object'::text));
ALTER TABLE dagapp.layer_catalog ADD CONSTRAINT layer_catalog_pkey PRIMARY KEY (asset_id);
ALTER TABLE dagapp.layer_catalog ADD CONSTRAINT layer_catalog_layer_type_check CHECK ((layer_type = ANY (ARRAY['raster'::text, 'vector'::text])));
ALTER TABLE dagapp.layer_metadata ADD CONSTRAINT layer_metadata_pkey PRIMARY KEY (asset_id);
ALTER TABLE dagapp.layer_metadata ADD CONSTRAINT layer_metadata_max_zoom_check CHECK (((max_zoom >= 0) AND (max_zoom <= 30)));
ALTER TABLE dagapp.layer_metadata ADD CONSTRAINT layer_metadata_min_zoom_check CHECK (((min_zoom >= 0) AND (min_zoom <= 30)));
ALTER TABLE dagapp.layer_metadata ADD CONSTRAINT zooms_in_order CHECK ((min_zoom <= max_zoom));
ALTER TABLE dagapp.login_codes ADD CONSTRAINT login_codes_pkey PRIMARY KEY (sha256);
ALTER TABLE dagapp.login_codes ADD CONSTRAINT login_code_ends CHECK ((expires_at > created_at));
ALTER TABLE dagapp.login_codes ADD CONSTRAINT login_codes_access_check CHECK ((cardinality(access) > 0));
ALTER TABLE dagapp.login_codes ADD CONSTRAINT login_codes_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.platform_callbacks ADD CONSTRAINT platform_callbacks_pkey PRIMARY KEY (platform_id, name);
ALTER TABLE dagapp.platform_callbacks ADD CONSTRAINT platform_callbacks_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,62}$'::text));
ALTER TABLE dagapp.platform_callbacks ADD CONSTRAINT platform_callbacks_secret_number_check CHECK ((secret_number > 0));
ALTER TABLE dagapp.platforms ADD CONSTRAINT platforms_pkey PRIMARY KEY (platform_id);
ALTER TABLE dagapp.platforms ADD CONSTRAINT platforms_platform_id_check CHECK ((platform_id ~ '^[a-z][a-z0-9_-]{0,62}$'::text));
ALTER TABLE dagapp.platforms ADD CONSTRAINT platforms_required_refs_check CHECK ((cardinality(required_refs) > 0));
ALTER TABLE dagapp.platforms ADD CONSTRAINT platforms_secret_number_check CHECK ((secret_number > 0));
ALTER TABLE dagapp.platforms ADD CONSTRAINT refs_are_apart CHECK (((NOT (required_refs && optional_refs)) AND ((version_ref IS NULL) OR (NOT (version_ref = ANY ((required_refs || optional_refs)))))));
ALTER TABLE dagapp.requests ADD CONSTRAINT requests_pkey PRIMARY KEY (request_id);
ALTER TABLE dagapp.requests ADD CONSTRAINT finished_has_a_time CHECK (((status = ANY (ARRAY['completed'::dagapp.request_status, 'failed'::dagapp.request_status, 'cancelled'::dagapp.request_status])) = (completed_at IS NOT NULL)));
ALTER TABLE dagapp.requests ADD CONSTRAINT requests_request_id_check CHECK ((request_id ~ '^[A-Za-z0-9_.-]{1,64}$'::text));
ALTER TABLE dagapp.schema_migrations ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE dagapp.stac_collections ADD CONSTRAINT stac_collections_pkey PRIMARY KEY (collection_id);
ALTER TABLE dagapp.stac_collections ADD CONSTRAINT collection_of_one_owner CHECK (((NOT is_operators) OR (platform_id IS NULL)));
ALTER TABLE dagapp.stac_collections ADD CONSTRAINT stac_collections_item_count_check CHECK ((item_count >= 0));
ALTER TABLE dagapp.stac_items ADD CONSTRAINT stac_items_pkey PRIMARY KEY (collection_id, item_id);
ALTER TABLE dagapp.stac_items ADD CONSTRAINT item_of_a_version CHECK (((asset_id IS NULL) = (version_ordinal IS NULL)));
ALTER TABLE dagapp.stac_items ADD CONSTRAINT item_of_one_owner CHECK (((NOT is_operators) OR (asset_id IS NULL)));
ALTER TABLE dagapp.stac_items ADD CONSTRAINT stac_items_check CHECK ((ends_at >= starts_at));
ALTER TABLE dagapp.stac_revision_items ADD CONSTRAINT stac_revision_items_pkey PRIMARY KEY (asset_id, version_ordinal, revision, collection_id, item_id);
ALTER TABLE dagapp.uploads ADD CONSTRAINT uploads_pkey PRIMARY KEY (upload_id);
ALTER TABLE dagapp.uploads ADD CONSTRAINT completed_when_received CHECK (((completed_at IS NULL) OR (received = length)));
ALTER TABLE dagapp.uploads ADD CONSTRAINT received_within_length CHECK (((received >= 0) AND (received <= length)));
ALTER TABLE dagapp.uploads ADD CONSTRAINT uploads_length_check CHECK ((length >= 0));
ALTER TABLE dagapp.uploads ADD CONSTRAINT uploads_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.api_keys ADD CONSTRAINT api_keys_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES dagapp.platforms(platform_id);
ALTER TABLE dagapp.api_keys ADD CONSTRAINT api_keys_rotated_from_fkey FOREIGN KEY (rotated_from) REFERENCES dagapp.api_keys(key_id);
ALTER TABLE dagapp.asset_events ADD CONSTRAINT asset_events_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES dagapp.geospatial_assets(asset_id);
ALTER TABLE dagapp.asset_jobs ADD CONSTRAINT asset_jobs_asset_id_version_ordinal_fkey FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions(asset_id, version_ordinal) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE dagapp.asset_revisions ADD CONSTRAINT asset_revisions_asset_id_version_ordinal_fkey FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions(asset_id, version_ordinal);
ALTER TABLE dagapp.asset_versions ADD CONSTRAINT asset_versions_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES dagapp.geospatial_assets(asset_id);
ALTER TABLE dagapp.callback_attempts ADD CONSTRAINT callback_attempts_event_id_fkey FOREIGN KEY (event_id) REFERENCES dagapp.callback_deliveries(event_id);
ALTER TABLE dagapp.callback_deliveries ADD CONSTRAINT callback_deliveries_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES dagapp.platforms(platform_id);
ALTER TABLE dagapp.callback_deliveries ADD CONSTRAINT callback_deliveries_request_id_fkey FOREIGN KEY (request_id) REFERENCES dagapp.requests(request_id);
ALTER TABLE dagapp.dag_archived_jobs ADD CONSTRAINT dag_archived_jobs_archive_id_fkey FOREIGN KEY (archive_id) REFERENCES dagapp.dag_archives(archive_id);
ALTER TABLE dagapp.dag_archives ADD CONSTRAINT dag_archives_class_fkey FOREIGN KEY (class) REFERENCES dagapp.dag_retention(class);
ALTER TABLE dagapp.dag_handler_offers ADD CONSTRAINT dag_handler_offers_handler_contract_hash_fkey FOREIGN KEY (handler, contract_hash) REFERENCES dagapp.dag_handlers(handler, contract_hash) ON DELETE CASCADE;
ALTER TABLE dagapp.dag_handler_offers ADD CONSTRAINT dag_handler_offers_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES dagapp.dag_workers(worker_id) ON DELETE CASCADE;
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_workflow_hash_fkey FOREIGN KEY (workflow_hash) REFERENCES dagapp.dag_workflow_versions(workflow_hash);
ALTER TABLE dagapp.dag_task_metrics ADD CONSTRAINT dag_task_metrics_job_id_fkey FOREIGN KEY (job_id) REFERENCES dagapp.dag_jobs(job_id) ON DELETE CASCADE;
ALTER TABLE dagapp.dag_workflows ADD CONSTRAINT dag_workflows_workflow_hash_fkey FOREIGN KEY (workflow_hash) REFERENCES dagapp.dag_workflow_versions(workflow_hash);
ALTER TABLE dagapp.external_publications ADD CONSTRAINT external_publications_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES dagapp.geospatial_assets(asset_id);
ALTER TABLE dagapp.geo_load_chunks ADD CONSTRAINT geo_load_chunks_load_id_table_name_fkey FOREIGN KEY (load_id, table_name) REFERENCES dagapp.geo_loads(load_id, table_name) ON DELETE CASCADE;
ALTER TABLE dagapp.geospatial_assets ADD CONSTRAINT geospatial_assets_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES dagapp.platforms(platform_id);
ALTER TABLE dagapp.h3_output_manifest ADD CONSTRAINT h3_output_manifest_run_id_fkey FOREIGN KEY (run_id) REFERENCES dagapp.h3_computation_runs(run_id);
ALTER TABLE dagapp.layer_catalog ADD CONSTRAINT layer_catalog_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES dagapp.geospatial_assets(asset_id);
ALTER TABLE dagapp.layer_metadata ADD CONSTRAINT layer_metadata_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES dagapp.geospatial_assets(asset_id);
ALTER TABLE dagapp.platform_callbacks ADD CONSTRAINT platform_callbacks_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES dagapp.platforms(platform_id);
ALTER TABLE dagapp.requests ADD CONSTRAINT requests_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES dagapp.geospatial_assets(asset_id);
ALTER TABLE dagapp.requests ADD CONSTRAINT requests_asset_id_version_ordinal_fkey FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions(asset_id, version_ordinal) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE dagapp.requests ADD CONSTRAINT requests_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES dagapp.platforms(platform_id);
ALTER TABLE dagapp.stac_collections ADD CONSTRAINT stac_collections_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES dagapp.platforms(platform_id);
ALTER TABLE dagapp.stac_items ADD CONSTRAINT stac_items_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES dagapp.stac_collections(collection_id);
ALTER TABLE dagapp.stac_items ADD CONSTRAINT stac_items_version FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions(asset_id, version_ordinal);
ALTER TABLE dagapp.stac_revision_items ADD CONSTRAINT stac_revision_items_asset_id_version_ordinal_revision_fkey FOREIGN KEY (asset_id, version_ordinal, revision) REFERENCES dagapp.asset_revisions(asset_id, version_ordinal, revision);
ALTER TABLE dagapp.stac_revision_items ADD CONSTRAINT stac_revision_items_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES dagapp.stac_collections(collection_id);

CREATE UNIQUE INDEX access_tokens_by_name ON dagapp.access_tokens USING btree (name) WHERE (revoked_at IS NULL);
CREATE INDEX api_keys_by_platform ON dagapp.api_keys USING btree (platform_id, created_at DESC);
CREATE INDEX asset_events_by_asset ON dagapp.asset_events USING btree (asset_id, event_id);
CREATE UNIQUE INDEX asset_jobs_once ON dagapp.asset_jobs USING btree (asset_id, version_ordinal, revision, purpose) WHERE (NOT superseded);
CREATE INDEX asset_versions_by_item ON dagapp.asset_versions USING btree (stac_collection_id, stac_item_id) WHERE (stac_item_id IS NOT NULL);
CREATE INDEX asset_versions_by_review ON dagapp.asset_versions USING btree (approval_state, updated_at DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX asset_versions_one_unresolved ON dagapp.asset_versions USING btree (asset_id) WHERE ((approval_state <> 'approved'::dagapp.approval_state) AND (withdrawn_at IS NULL) AND (deleted_at IS NULL));
CREATE INDEX callback_deliveries_by_job ON dagapp.callback_deliveries USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX callback_deliveries_by_request ON dagapp.callback_deliveries USING btree (request_id);
CREATE INDEX callback_deliveries_due ON dagapp.callback_deliveries USING btree (next_attempt_at) WHERE (state = 'pending'::dagapp.delivery_state);
CREATE INDEX callback_deliveries_newest ON dagapp.callback_deliveries USING btree (created_at DESC, event_id DESC);
CREATE INDEX console_sessions_newest ON dagapp.console_sessions USING btree (created_at DESC);
CREATE INDEX dag_blob_assets_by_job ON dagapp.dag_blob_assets USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX dag_blob_assets_present ON dagapp.dag_blob_assets USING btree (zone, path) WHERE (gone_at IS NULL);
CREATE INDEX dag_dataset_refs_by_target ON dagapp.dag_dataset_refs USING btree (target_kind, target_id);
CREATE INDEX dag_external_services_due ON dagapp.dag_external_services USING btree (checked_at NULLS FIRST) WHERE is_active;
CREATE INDEX dag_handler_offers_by_handler ON dagapp.dag_handler_offers USING btree (handler);
CREATE INDEX dag_job_events_by_age ON dagapp.dag_job_events USING brin (created_at);
CREATE INDEX dag_jobs_active ON dagapp.dag_jobs USING btree (owner_id) WHERE (status = ANY (ARRAY['pending'::dagapp.job_status, 'running'::dagapp.job_status]));
CREATE INDEX dag_jobs_by_correlation ON dagapp.dag_jobs USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);
CREATE INDEX dag_jobs_by_workflow ON dagapp.dag_jobs USING btree (workflow_id, created_at DESC);
CREATE INDEX dag_jobs_dirty ON dagapp.dag_jobs USING btree (owner_id) WHERE dirty;
CREATE UNIQUE INDEX dag_jobs_idempotency ON dagapp.dag_jobs USING btree (idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX dag_jobs_newest ON dagapp.dag_jobs USING btree (created_at DESC);
CREATE INDEX dag_jobs_rerun_of ON dagapp.dag_jobs USING btree (rerun_of) WHERE (rerun_of IS NOT NULL);
CREATE INDEX dag_node_states_due ON dagapp.dag_node_states USING btree (retry_at) WHERE (retry_at IS NOT NULL);
CREATE INDEX dag_queue_dead_by_queue ON dagapp.dag_queue_dead USING btree (queue, message_id DESC);
CREATE INDEX dag_queue_dead_unhandled ON dagapp.dag_queue_dead USING btree (message_id) WHERE (NOT handled);
CREATE INDEX dag_queue_leases_by_group ON dagapp.dag_queue_leases USING btree (group_key);
CREATE INDEX dag_queue_ready_by_group ON dagapp.dag_queue_ready USING btree (group_key) WHERE (group_key IS NOT NULL);
CREATE INDEX dag_queue_ready_delayed ON dagapp.dag_queue_ready USING btree (queue, visible_at) WHERE (visible_at IS NOT NULL);
CREATE INDEX dag_queue_ready_next ON dagapp.dag_queue_ready USING btree (queue, priority DESC, message_id) WHERE (visible_at IS NULL);
CREATE INDEX dag_queue_ready_suspects ON dagapp.dag_queue_ready USING btree (queue, visible_at) WHERE (suspect IS NOT NULL);
CREATE INDEX dag_queue_seen_expired ON dagapp.dag_queue_seen USING btree (until);
CREATE INDEX dag_task_logs_by_job ON dagapp.dag_task_logs USING btree (job_id, log_id);
CREATE INDEX dag_task_metrics_by_job ON dagapp.dag_task_metrics USING btree (job_id);
CREATE INDEX dag_task_requests_old ON dagapp.dag_task_requests USING btree (answered_at) WHERE (answered_at IS NOT NULL);
CREATE INDEX dag_task_requests_open ON dagapp.dag_task_requests USING btree (asked_at) WHERE (answer IS NULL);
CREATE INDEX dag_workflow_versions_by_workflow ON dagapp.dag_workflow_versions USING btree (workflow_id, created_at DESC);
CREATE INDEX geo_loads_by_table ON dagapp.geo_loads USING btree (table_name);
CREATE INDEX geospatial_assets_by_refs ON dagapp.geospatial_assets USING gin (platform_refs);
CREATE INDEX geospatial_assets_newest ON dagapp.geospatial_assets USING btree (updated_at DESC, asset_id DESC);
CREATE INDEX h3_computation_runs_by_raster ON dagapp.h3_computation_runs USING btree (raster, period, started_at DESC);
CREATE INDEX h3_computation_runs_by_start ON dagapp.h3_computation_runs USING btree (started_at DESC, run_id);
CREATE INDEX h3_output_manifest_by_run ON dagapp.h3_output_manifest USING btree (run_id, resolution, h3_l3);
CREATE INDEX requests_by_platform ON dagapp.requests USING btree (platform_id, submitted_at DESC, request_id DESC);
CREATE INDEX requests_by_version ON dagapp.requests USING btree (asset_id, version_ordinal, revision);
CREATE UNIQUE INDEX requests_idempotency ON dagapp.requests USING btree (platform_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX requests_newest ON dagapp.requests USING btree (submitted_at DESC, request_id DESC);
CREATE INDEX stac_items_by_box ON dagapp.stac_items USING gist (box);
CREATE INDEX stac_items_by_box_beyond ON dagapp.stac_items USING gist (box_beyond) WHERE (box_beyond IS NOT NULL);
CREATE INDEX stac_items_by_id ON dagapp.stac_items USING btree (item_id);
CREATE INDEX stac_items_by_path ON dagapp.stac_items USING gin (paths) WITH (fastupdate=off);
CREATE INDEX stac_items_by_request ON dagapp.stac_items USING btree (collection_id, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX stac_items_by_table ON dagapp.stac_items USING gin (tables) WITH (fastupdate=off);
CREATE INDEX stac_items_by_version ON dagapp.stac_items USING btree (asset_id, version_ordinal) WHERE (asset_id IS NOT NULL);
CREATE INDEX stac_items_governed ON dagapp.stac_items USING btree (collection_id) WHERE (NOT is_operators);
CREATE INDEX stac_items_newest ON dagapp.stac_items USING btree (starts_at DESC, collection_id, item_id);
CREATE INDEX stac_items_newest_of_collection ON dagapp.stac_items USING btree (collection_id, starts_at DESC, item_id);
CREATE INDEX stac_items_of_features ON dagapp.stac_items USING btree (collection_id, item_id) WHERE (tables <> '{}'::text[]);
CREATE INDEX stac_revision_items_by_path ON dagapp.stac_revision_items USING gin (paths) WITH (fastupdate=off);
CREATE INDEX stac_revision_items_by_table ON dagapp.stac_revision_items USING gin (tables) WITH (fastupdate=off);
CREATE INDEX uploads_by_path ON dagapp.uploads USING btree (path, created_at);
CREATE INDEX uploads_expiry ON dagapp.uploads USING btree (expires_at);

CREATE VIEW dagapp.dag_attempts AS
 SELECT dag_task_results.task_id,
    dag_task_results.job_id,
    dag_task_results.node_id,
    dag_task_results.status,
    dag_task_results.output,
    dag_task_results.error,
    dag_task_results.worker_id,
    dag_task_results.started_at,
    dag_task_results.reported_at
   FROM dagapp.dag_task_results
UNION ALL
 SELECT n.task_id,
    n.job_id,
    n.node_id,
    'completed'::dagapp.task_status AS status,
    n.output::jsonb AS output,
    NULL::jsonb AS error,
    n.worker_id,
    n.started_at,
    n.completed_at AS reported_at
   FROM dagapp.dag_node_states n
  WHERE n.status = 'completed'::dagapp.node_status AND n.task_id IS NOT NULL AND NOT (EXISTS ( SELECT
           FROM dagapp.dag_task_results r
          WHERE r.task_id = n.task_id));
CREATE VIEW dagapp.dag_promoted AS
 SELECT v.asset_id,
    a.platform_id,
    v.version_ordinal,
    v.version_label,
    v.exported_revision AS revision,
    v.external_blob_path,
    v.adf_run_id,
    v.export_job_id,
    v.updated_at
   FROM dagapp.asset_versions v
     JOIN dagapp.geospatial_assets a USING (asset_id)
  WHERE v.export_state = 'completed'::dagapp.export_state AND v.deleted_at IS NULL;
CREATE VIEW dagapp.dag_running_tasks AS
 SELECT message_key AS task_id,
    group_key AS job_id,
    holder AS worker_id,
    leased_at AS started_at,
    progress_percent,
    progress_message
   FROM dagapp.dag_queue_leases
  WHERE group_key IS NOT NULL;
CREATE VIEW dagapp.dag_unpacked_events AS
 SELECT e.job_id,
    e.seq - COALESCE(cardinality(e.children) - child.place, jsonb_array_length(e.earlier) + 1 - part.place, 0::bigint)::integer AS seq,
    COALESCE(part.event ->> 0, e.event_type) AS event_type,
    COALESCE((part.event ->> 1)::dagapp.event_status, e.event_status) AS event_status,
        CASE
            WHEN child.index IS NOT NULL THEN (e.node_id || '__'::text) || child.index
            WHEN jsonb_typeof(part.event) = 'array'::text THEN part.event ->> 2
            ELSE e.node_id
        END AS node_id,
        CASE
            WHEN jsonb_typeof(part.event) = 'array'::text THEN part.event ->> 3
            ELSE e.task_id
        END AS task_id,
    e.checkpoint_name,
        CASE
            WHEN jsonb_typeof(part.event) = 'array'::text THEN part.event -> 4
            ELSE e.event_data
        END AS event_data,
    e.created_at,
    e.seq AS last_seq
   FROM dagapp.dag_job_events e
     LEFT JOIN LATERAL unnest(e.children) WITH ORDINALITY child(index, place) ON true
     LEFT JOIN LATERAL jsonb_array_elements(e.earlier || 'null'::jsonb) WITH ORDINALITY part(event, place) ON true;
CREATE VIEW gateway.api_keys AS
 SELECT k.key_id,
    k.platform_id,
    k.name,
    k.key_hash,
    k.scopes,
    k.created_at,
    k.created_by,
    k.expires_at,
    k.revoked_at,
    k.rotated_from,
    p.is_active AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS is_usable
   FROM dagapp.api_keys k
     JOIN dagapp.platforms p USING (platform_id);
CREATE VIEW gateway.asset_events AS
 SELECT a.platform_id,
    e.asset_id,
    e.event_id,
    e.version_ordinal,
    e.event_type,
    e.actor,
    e.via,
    e.created_at
   FROM dagapp.asset_events e
     JOIN dagapp.geospatial_assets a USING (asset_id);
CREATE VIEW gateway.asset_revisions AS
 SELECT a.platform_id,
    r.asset_id,
    r.version_ordinal,
    r.revision,
    r.request_id,
    r.workflow_id,
    r.restored_from,
    r.processing_state,
    replace(r.processing_error, COALESCE(r.job_id, r.request_id), r.request_id) AS processing_error,
    r.content_hash,
    r.created_by,
    r.created_at,
    r.completed_at
   FROM dagapp.asset_revisions r
     JOIN dagapp.geospatial_assets a USING (asset_id);
CREATE VIEW gateway.asset_versions AS
 SELECT a.platform_id,
    v.asset_id,
    v.version_ordinal,
    v.version_label,
    v.approval_state,
    v.reviewer,
    v.reviewed_at,
    v.rejection_reason,
    v.withdrawn_at,
    v.processing_state,
    replace(v.processing_error, COALESCE(v.current_job_id, v.request_id), v.request_id) AS processing_error,
    v.request_id,
    v.workflow_id,
    v.revision,
    v.served_revision,
    v.content_hash,
    v.stac_collection_id,
    v.stac_item_id,
    v.export_state,
    v.exported_revision,
    v.external_blob_path,
    v.deleted_at,
    v.deleted_by,
    v.created_at,
    v.updated_at,
    ( SELECT min(o.version_ordinal) AS min
           FROM dagapp.asset_versions o
          WHERE o.asset_id = v.asset_id AND o.content_hash = v.content_hash AND o.version_ordinal < v.version_ordinal AND o.deleted_at IS NULL) AS same_content_as
   FROM dagapp.asset_versions v
     JOIN dagapp.geospatial_assets a USING (asset_id);
CREATE VIEW gateway.assets AS
 SELECT asset_id,
    platform_id,
    platform_refs,
    clearance_state,
    cleared_at,
    cleared_by,
    made_public_at,
    made_public_by,
    exposure,
    latest_approved_version_ordinal,
    row_version,
    deleted_at,
    deleted_by,
    created_at,
    updated_at
   FROM dagapp.geospatial_assets;
CREATE VIEW gateway.deliveries AS
 SELECT event_id,
    platform_id,
    request_id,
    event_type,
    url,
    state,
    attempts,
    next_attempt_at,
    delivered_at,
    last_error,
    created_at
   FROM dagapp.callback_deliveries
  WHERE platform_id IS NOT NULL;
CREATE VIEW gateway.fleet AS
 SELECT 'orchestrator'::text AS kind,
    dag_orchestrators.owner_id AS name,
    dag_orchestrators.version,
    dag_orchestrators.heartbeat_at > (now() - '00:02:00'::interval) AS alive
   FROM dagapp.dag_orchestrators
UNION ALL
 SELECT 'worker'::text AS kind,
    dag_workers.worker_id AS name,
    dag_workers.version,
    dag_workers.heartbeat_at > (now() - '00:02:00'::interval) AS alive
   FROM dagapp.dag_workers;
CREATE VIEW gateway.job_events AS
 SELECT job_id,
    seq,
    event_type,
    event_status,
    node_id,
    task_id,
    checkpoint_name,
    event_data,
    created_at,
    last_seq
   FROM dagapp.dag_unpacked_events;
CREATE VIEW gateway.jobs AS
 SELECT job_id,
    workflow_id,
    workflow_version,
    status,
    priority,
    correlation_id,
    idempotency_key,
    submitted_by,
    owner_id,
    error_code,
    error_message,
    failed_node_id,
    nodes_total,
    nodes_total - nodes_unsettled::integer AS nodes_settled,
    created_at,
    started_at,
    updated_at,
    completed_at
   FROM dagapp.dag_jobs;
CREATE VIEW gateway.nodes AS
 SELECT job_id,
    node_id,
    node_type,
    status,
    parent_node_id,
    fan_out_index,
    attempt,
    retry_count,
    max_retries,
    handler,
    queue,
    worker_id,
    error,
    created_at,
    dispatched_at,
    started_at,
    completed_at
   FROM dagapp.dag_node_states;
CREATE VIEW gateway.platforms AS
 SELECT platform_id,
    display_name,
    required_refs,
    optional_refs,
    version_ref,
    is_active,
    callback_url,
    callback_hosts,
    source_prefixes,
    row_version,
    created_at,
    updated_at
   FROM dagapp.platforms;
CREATE VIEW gateway.requests AS
 SELECT r.request_id,
    r.platform_id,
    r.kind,
    r.workflow_id,
    r.asset_id,
    r.version_ordinal,
    v.version_label,
    r.revision,
    r.submitted_by,
    r.priority,
        CASE
            WHEN r.status = 'pending'::dagapp.request_status AND j.status = 'running'::dagapp.job_status THEN 'running'::text
            ELSE r.status::text
        END AS status,
        CASE
            WHEN r.status = 'completed'::dagapp.request_status THEN 100
            WHEN j.nodes_total > 0 THEN round(100.0 * (j.nodes_total - j.nodes_unsettled::integer)::numeric / j.nodes_total::numeric)::integer
            ELSE 0
        END AS percent,
    r.result,
    r.error,
    r.submitted_at,
    r.completed_at
   FROM dagapp.requests r
     JOIN dagapp.asset_versions v USING (asset_id, version_ordinal)
     LEFT JOIN dagapp.dag_jobs j ON j.job_id::text = r.job_id;
CREATE VIEW gateway.schema_version AS
 SELECT max(version) AS version,
    ( SELECT min(program.version) AS min
           FROM dagapp.schema_migrations program
          WHERE NOT (EXISTS ( SELECT
                   FROM dagapp.schema_migrations newer
                  WHERE newer.version > program.version AND COALESCE(newer.oldest_program, newer.version) > program.version))) AS oldest_program
   FROM dagapp.schema_migrations;
CREATE VIEW gateway.workflows AS
 SELECT w.workflow_id,
    v.version,
    v.definition ->> 'name'::text AS name,
    v.definition ->> 'description'::text AS description,
    v.definition -> 'inputs'::text AS inputs,
    v.definition -> 'outputs'::text AS outputs,
    w.updated_at,
    NOT v.definition ? 'stages'::text AND NOT jsonb_path_exists(v.definition, '$."nodes".*.**{0 to 1}."handler"?(((((((((((((((@ starts with "export." || @ starts with "stac.") || @ starts with "fathom_") || (((@ starts with "h3_" && @ != "h3_discover_raster") && @ != "h3_zonal_stats") && @ != "h3_finalize") && @ != "h3_register_dataset") || @ == "stats_zonal") || @ == "stac_catalog_container") || @ == "register_silver_blobs") || @ == "trigger_approval") || @ == "approve_dataset") || @ == "reject_dataset") || @ == "job_health_check") || @ == "task_watchdog") || @ == "inspect_file") || @ == "list_container_files") || @ == "process_file") || @ == "update_catalog")'::jsonpath) AS for_partners
   FROM dagapp.dag_workflows w
     JOIN dagapp.dag_workflow_versions v USING (workflow_hash)
  WHERE w.is_active;

CREATE TRIGGER asset_events_stay BEFORE DELETE OR UPDATE ON dagapp.asset_events FOR EACH ROW EXECUTE FUNCTION dagapp.refuse_change('asset_events_stay', 'history never changes');
CREATE TRIGGER approval_of_something BEFORE UPDATE OF approval_state ON dagapp.asset_versions FOR EACH ROW WHEN (((new.approval_state = 'approved'::dagapp.approval_state) AND (old.approval_state <> 'approved'::dagapp.approval_state) AND (new.processing_state <> 'completed'::dagapp.processing_state))) EXECUTE FUNCTION dagapp.refuse_change('approval_of_something', 'only a version that was processed can be approved');
CREATE TRIGGER approval_transition BEFORE UPDATE OF approval_state ON dagapp.asset_versions FOR EACH ROW WHEN (((old.approval_state <> new.approval_state) AND (NOT
        CASE old.approval_state
            WHEN 'pending_review'::dagapp.approval_state THEN (new.approval_state = ANY (ARRAY['approved'::dagapp.approval_state, 'rejected'::dagapp.approval_state]))
            WHEN 'approved'::dagapp.approval_state THEN (new.approval_state = 'pending_review'::dagapp.approval_state)
            WHEN 'rejected'::dagapp.approval_state THEN (new.approval_state = ANY (ARRAY['approved'::dagapp.approval_state, 'pending_review'::dagapp.approval_state]))
            ELSE false
        END))) EXECUTE FUNCTION dagapp.refuse_change('approval_transition', 'this approval may not follow');
CREATE TRIGGER processing_transition BEFORE UPDATE OF processing_state ON dagapp.asset_versions FOR EACH ROW WHEN (((old.processing_state <> new.processing_state) AND (NOT
        CASE old.processing_state
            WHEN 'queued'::dagapp.processing_state THEN (new.processing_state = ANY (ARRAY['processing'::dagapp.processing_state, 'completed'::dagapp.processing_state, 'failed'::dagapp.processing_state]))
            WHEN 'processing'::dagapp.processing_state THEN (new.processing_state = ANY (ARRAY['completed'::dagapp.processing_state, 'failed'::dagapp.processing_state]))
            WHEN 'completed'::dagapp.processing_state THEN (new.processing_state = 'queued'::dagapp.processing_state)
            WHEN 'failed'::dagapp.processing_state THEN (new.processing_state = ANY (ARRAY['queued'::dagapp.processing_state, 'completed'::dagapp.processing_state]))
            ELSE false
        END))) EXECUTE FUNCTION dagapp.refuse_change('processing_transition', 'this processing may not follow');
CREATE TRIGGER trace_export AFTER UPDATE OF external_blob_path ON dagapp.asset_versions FOR EACH ROW WHEN ((old.external_blob_path IS DISTINCT FROM new.external_blob_path)) EXECUTE FUNCTION dagapp.trace_export();
CREATE TRIGGER version_stays_deleted BEFORE UPDATE ON dagapp.asset_versions FOR EACH ROW WHEN (((old.deleted_at IS NOT NULL) AND (new.deleted_at IS NULL))) EXECUTE FUNCTION dagapp.refuse_change('version_stays_deleted', 'a deleted version stays deleted');
CREATE TRIGGER job_transition AFTER UPDATE OF status ON dagapp.dag_jobs FOR EACH ROW WHEN ((old.status <> LEAST(new.status, 'running'::dagapp.job_status))) EXECUTE FUNCTION dagapp.guard_job_transition();
CREATE TRIGGER node_transition AFTER UPDATE OF status ON dagapp.dag_node_states FOR EACH ROW WHEN (((old.status > LEAST(new.status, 'running'::dagapp.node_status)) OR (new.status = 'skipped'::dagapp.node_status))) EXECUTE FUNCTION dagapp.guard_node_transition();
CREATE TRIGGER asset_identity BEFORE UPDATE OF asset_id, platform_id, platform_refs ON dagapp.geospatial_assets FOR EACH ROW WHEN (((old.asset_id <> new.asset_id) OR (old.platform_id <> new.platform_id) OR (old.platform_refs <> new.platform_refs))) EXECUTE FUNCTION dagapp.refuse_change('asset_identity', 'what an asset is never changes');
CREATE TRIGGER forget_item AFTER DELETE ON dagapp.stac_items FOR EACH ROW EXECUTE FUNCTION dagapp.forget_item();
CREATE TRIGGER trace_inserted_items AFTER INSERT ON dagapp.stac_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();
CREATE TRIGGER trace_updated_items AFTER UPDATE ON dagapp.stac_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();
CREATE TRIGGER forget_item AFTER DELETE ON dagapp.stac_revision_items FOR EACH ROW EXECUTE FUNCTION dagapp.forget_item();
CREATE TRIGGER trace_inserted_items AFTER INSERT ON dagapp.stac_revision_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();
CREATE TRIGGER trace_updated_items AFTER UPDATE ON dagapp.stac_revision_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();

GRANT USAGE ON SCHEMA dagapp TO rmhdag_orchestrator;
GRANT USAGE ON SCHEMA dagapp TO rmhdag_worker;
GRANT USAGE ON SCHEMA gateway TO rmhdag_gateway;
GRANT CREATE, USAGE ON SCHEMA geo TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.access_tokens TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.api_keys TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.asset_events TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.asset_jobs TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.asset_jobs TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.asset_revisions TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.asset_versions TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.asset_versions TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.callback_attempts TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.callback_deliveries TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.callback_hosts TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.console_sessions TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_archived_jobs TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_archives TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_attempts TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.dag_attempts TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_blob_assets TO rmhdag_orchestrator;
GRANT INSERT, SELECT, UPDATE ON TABLE dagapp.dag_blob_assets TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_checkpoints TO rmhdag_orchestrator;
GRANT INSERT, SELECT ON TABLE dagapp.dag_checkpoints TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_dataset_refs TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT ON TABLE dagapp.dag_dataset_refs TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_external_services TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_handler_offers TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_handler_offers TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_handlers TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_handlers TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_job_events TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_jobs TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.dag_jobs TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_node_states TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.dag_node_states TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_orchestrators TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_promoted TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_push_servers TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.dag_push_servers TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_queue_dead TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_queue_dead TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_queue_leases TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_queue_ready TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_queues TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.dag_queues TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_retention TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_running_tasks TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.dag_running_tasks TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_task_inbox TO rmhdag_orchestrator;
GRANT INSERT, SELECT ON TABLE dagapp.dag_task_inbox TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_task_logs TO rmhdag_orchestrator;
GRANT INSERT, SELECT ON TABLE dagapp.dag_task_logs TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_task_metrics TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_task_requests TO rmhdag_orchestrator;
GRANT INSERT, SELECT ON TABLE dagapp.dag_task_requests TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_task_results TO rmhdag_orchestrator;
GRANT INSERT, SELECT ON TABLE dagapp.dag_task_results TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_unpacked_events TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_workers TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_workers TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_workflow_versions TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.dag_workflows TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.external_publications TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.fathom_rasters TO rmhdag_orchestrator;
GRANT INSERT, SELECT, UPDATE ON TABLE dagapp.fathom_rasters TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.geo_load_chunks TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.geo_load_chunks TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.geo_loads TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.geo_loads TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.geo_tables TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.geo_tables TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.geospatial_assets TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.geospatial_assets TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.h3_combined_sources TO rmhdag_orchestrator;
GRANT INSERT, SELECT, UPDATE ON TABLE dagapp.h3_combined_sources TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.h3_computation_runs TO rmhdag_orchestrator;
GRANT INSERT, SELECT, UPDATE ON TABLE dagapp.h3_computation_runs TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.h3_output_manifest TO rmhdag_orchestrator;
GRANT INSERT, SELECT, UPDATE ON TABLE dagapp.h3_output_manifest TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.h3_raster_sources TO rmhdag_orchestrator;
GRANT INSERT, SELECT, UPDATE ON TABLE dagapp.h3_raster_sources TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.h3_vector_sources TO rmhdag_orchestrator;
GRANT INSERT, SELECT, UPDATE ON TABLE dagapp.h3_vector_sources TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.layer_catalog TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.layer_metadata TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.login_codes TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.platform_callbacks TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.platforms TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.platforms TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.requests TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.schema_migrations TO rmhdag_orchestrator;
GRANT SELECT ON TABLE dagapp.schema_migrations TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.stac_collections TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.stac_collections TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.stac_items TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.stac_items TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.stac_revision_items TO rmhdag_orchestrator;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.stac_revision_items TO rmhdag_worker;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE dagapp.uploads TO rmhdag_orchestrator;
GRANT SELECT ON TABLE gateway.api_keys TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.asset_events TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.asset_revisions TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.asset_versions TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.assets TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.deliveries TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.fleet TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.job_events TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.jobs TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.nodes TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.platforms TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.requests TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.schema_version TO rmhdag_gateway;
GRANT SELECT ON TABLE gateway.workflows TO rmhdag_gateway;

-- What the migrations amount to. Generated from them: npm run generate

CREATE SCHEMA dagapp;
CREATE SCHEMA geo;

CREATE TYPE dagapp.event_status AS ENUM (
  'info',
  'success',
  'warning',
  'error'
);
CREATE TYPE dagapp.geometry_form AS ENUM (
  'postgis',
  'wkb'
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
CREATE TYPE dagapp.task_status AS ENUM (
  'completed',
  'failed'
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
CREATE TABLE dagapp.dag_job_events (
  job_id text NOT NULL,
  seq integer NOT NULL,
  event_type text NOT NULL,
  event_status dagapp.event_status NOT NULL DEFAULT 'info'::dagapp.event_status,
  node_id text,
  task_id text,
  event_data jsonb,
  checkpoint_name text,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.dag_jobs (
  job_id text NOT NULL,
  workflow_id text NOT NULL,
  workflow_hash text NOT NULL,
  workflow_version text NOT NULL,
  status dagapp.job_status NOT NULL DEFAULT 'pending'::dagapp.job_status,
  priority smallint NOT NULL DEFAULT 0,
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
  attention boolean NOT NULL DEFAULT false,
  nodes_total integer NOT NULL,
  nodes_unsettled integer NOT NULL,
  event_seq integer NOT NULL DEFAULT 0,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  version integer NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  completed_at timestamp with time zone
)
WITH (fillfactor=70);
CREATE TABLE dagapp.dag_node_states (
  job_id text NOT NULL,
  node_id text NOT NULL,
  node_type dagapp.node_type NOT NULL,
  status dagapp.node_status NOT NULL DEFAULT 'pending'::dagapp.node_status,
  parent_node_id text,
  fan_out_index integer,
  attempt integer NOT NULL DEFAULT 0,
  retry_count integer NOT NULL DEFAULT 0,
  throttle_count integer NOT NULL DEFAULT 0,
  max_retries integer NOT NULL DEFAULT 0,
  task_id text,
  handler text,
  queue text,
  timeout_seconds integer,
  input_params jsonb,
  output jsonb,
  error jsonb,
  worker_id text,
  retry_at timestamp with time zone,
  fan_out jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  dispatched_at timestamp with time zone,
  started_at timestamp with time zone,
  completed_at timestamp with time zone
)
WITH (fillfactor=40);
CREATE TABLE dagapp.dag_orchestrators (
  owner_id text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  heartbeat_at timestamp with time zone NOT NULL DEFAULT now()
)
WITH (fillfactor=50);
CREATE TABLE dagapp.dag_queue_dead (
  message_id bigint NOT NULL,
  queue text NOT NULL,
  priority smallint NOT NULL,
  deliveries integer NOT NULL,
  handed_back integer NOT NULL,
  message_key text NOT NULL,
  group_key text,
  headers jsonb,
  body text NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  reason text NOT NULL,
  detail text,
  died_at timestamp with time zone NOT NULL DEFAULT now(),
  handled boolean NOT NULL DEFAULT false
);
CREATE TABLE dagapp.dag_queue_leases (
  message_id bigint NOT NULL,
  queue text NOT NULL,
  priority smallint NOT NULL,
  deliveries integer NOT NULL,
  handed_back integer NOT NULL,
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
  progress_message text
)
WITH (fillfactor=50);
CREATE TABLE dagapp.dag_queue_ready (
  message_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  queue text NOT NULL,
  priority smallint NOT NULL DEFAULT 0,
  visible_at timestamp with time zone,
  deliveries integer NOT NULL DEFAULT 0,
  handed_back integer NOT NULL DEFAULT 0,
  message_key text NOT NULL,
  group_key text,
  headers jsonb,
  body text NOT NULL,
  enqueued_at timestamp with time zone NOT NULL DEFAULT now()
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
);
CREATE TABLE dagapp.dag_workers (
  worker_id text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  queues text[] NOT NULL,
  slots integer NOT NULL,
  busy integer NOT NULL DEFAULT 0,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  heartbeat_at timestamp with time zone NOT NULL DEFAULT now()
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
CREATE TABLE dagapp.schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.stac_collections (
  collection_id text NOT NULL,
  collection jsonb NOT NULL,
  coverage jsonb,
  item_count integer NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);
CREATE TABLE dagapp.stac_items (
  collection_id text NOT NULL,
  item_id text NOT NULL,
  item jsonb NOT NULL,
  box box NOT NULL,
  box_beyond box,
  starts_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  paths text[] NOT NULL DEFAULT '{}'::text[],
  tables text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);

CREATE OR REPLACE FUNCTION dagapp.refuse_transition()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '% may not go from % to %', TG_ARGV[0], OLD.status, NEW.status
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_ARGV[0] || '_transition';
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

ALTER TABLE dagapp.dag_checkpoints ADD CONSTRAINT dag_checkpoints_pkey PRIMARY KEY (job_id, node_id, seq);
ALTER TABLE dagapp.dag_checkpoints ADD CONSTRAINT dag_checkpoints_seq_check CHECK ((seq > 0));
ALTER TABLE dagapp.dag_job_events ADD CONSTRAINT dag_job_events_pkey PRIMARY KEY (job_id, seq);
ALTER TABLE dagapp.dag_job_events ADD CONSTRAINT dag_job_events_seq_check CHECK ((seq > 0));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_pkey PRIMARY KEY (job_id);
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT cancelled_was_requested CHECK (((status <> 'cancelled'::dagapp.job_status) OR (cancel_requested_at IS NOT NULL)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT completed_is_settled CHECK (((status <> 'completed'::dagapp.job_status) OR (nodes_unsettled = 0)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_check CHECK (((nodes_unsettled >= 0) AND (nodes_unsettled <= nodes_total)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_job_id_check CHECK (((length(job_id) >= 1) AND (length(job_id) <= 64)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_nodes_total_check CHECK ((nodes_total >= 0));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_priority_check CHECK (((priority >= 0) AND (priority <= 10)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT failed_has_a_reason CHECK (((status <> 'failed'::dagapp.job_status) OR (error_message IS NOT NULL)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT finished_has_a_time CHECK (((status = ANY (ARRAY['completed'::dagapp.job_status, 'failed'::dagapp.job_status, 'cancelled'::dagapp.job_status])) = (completed_at IS NOT NULL)));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT started_has_a_time CHECK (((status <> ALL (ARRAY['running'::dagapp.job_status, 'completed'::dagapp.job_status, 'failed'::dagapp.job_status])) OR (started_at IS NOT NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dag_node_states_pkey PRIMARY KEY (job_id, node_id);
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT child_has_an_index CHECK (((parent_node_id IS NULL) = (fan_out_index IS NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dag_node_states_attempt_check CHECK ((attempt >= 0));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dag_node_states_max_retries_check CHECK ((max_retries >= 0));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dag_node_states_retry_count_check CHECK ((retry_count >= 0));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dag_node_states_throttle_count_check CHECK ((throttle_count >= 0));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT dispatched_has_a_task CHECK (((status <> 'dispatched'::dagapp.node_status) OR (task_id IS NOT NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT failed_has_an_error CHECK (((status <> 'failed'::dagapp.node_status) OR (error IS NOT NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT only_a_fan_out_has_children CHECK (((fan_out IS NULL) OR (node_type = 'fan_out'::dagapp.node_type)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT output_is_an_object CHECK (((output IS NULL) OR (jsonb_typeof(output) = 'object'::text)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT retry_waits_in_ready CHECK (((retry_at IS NULL) OR (status = 'ready'::dagapp.node_status)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT settled_has_a_time CHECK (((status = ANY (ARRAY['completed'::dagapp.node_status, 'failed'::dagapp.node_status, 'skipped'::dagapp.node_status, 'cancelled'::dagapp.node_status])) = (completed_at IS NOT NULL)));
ALTER TABLE dagapp.dag_node_states ADD CONSTRAINT skipped_has_no_output CHECK (((status <> 'skipped'::dagapp.node_status) OR (output IS NULL)));
ALTER TABLE dagapp.dag_orchestrators ADD CONSTRAINT dag_orchestrators_pkey PRIMARY KEY (owner_id);
ALTER TABLE dagapp.dag_queue_dead ADD CONSTRAINT dag_queue_dead_pkey PRIMARY KEY (message_id);
ALTER TABLE dagapp.dag_queue_leases ADD CONSTRAINT dag_queue_leases_pkey PRIMARY KEY (message_id);
ALTER TABLE dagapp.dag_queue_seen ADD CONSTRAINT dag_queue_seen_pkey PRIMARY KEY (queue, message_key);
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_pkey PRIMARY KEY (queue);
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_dedupe_ms_check CHECK ((dedupe_ms >= 0));
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_lease_ms_check CHECK ((lease_ms > 0));
ALTER TABLE dagapp.dag_queues ADD CONSTRAINT dag_queues_max_deliveries_check CHECK ((max_deliveries > 0));
ALTER TABLE dagapp.dag_task_inbox ADD CONSTRAINT dag_task_inbox_pkey PRIMARY KEY (seq);
ALTER TABLE dagapp.dag_task_logs ADD CONSTRAINT dag_task_logs_pkey PRIMARY KEY (log_id);
ALTER TABLE dagapp.dag_task_logs ADD CONSTRAINT dag_task_logs_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text])));
ALTER TABLE dagapp.dag_task_results ADD CONSTRAINT dag_task_results_pkey PRIMARY KEY (task_id);
ALTER TABLE dagapp.dag_task_results ADD CONSTRAINT completed_has_output CHECK ((((status = 'completed'::dagapp.task_status) = (output IS NOT NULL)) AND ((status = 'failed'::dagapp.task_status) = (error IS NOT NULL))));
ALTER TABLE dagapp.dag_workers ADD CONSTRAINT dag_workers_pkey PRIMARY KEY (worker_id);
ALTER TABLE dagapp.dag_workers ADD CONSTRAINT dag_workers_slots_check CHECK ((slots > 0));
ALTER TABLE dagapp.dag_workflow_versions ADD CONSTRAINT dag_workflow_versions_pkey PRIMARY KEY (workflow_hash);
ALTER TABLE dagapp.dag_workflow_versions ADD CONSTRAINT dag_workflow_versions_workflow_hash_check CHECK ((workflow_hash ~ '^[0-9a-f]{64}$'::text));
ALTER TABLE dagapp.dag_workflows ADD CONSTRAINT dag_workflows_pkey PRIMARY KEY (workflow_id);
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
ALTER TABLE dagapp.schema_migrations ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE dagapp.stac_collections ADD CONSTRAINT stac_collections_pkey PRIMARY KEY (collection_id);
ALTER TABLE dagapp.stac_collections ADD CONSTRAINT stac_collections_item_count_check CHECK ((item_count >= 0));
ALTER TABLE dagapp.stac_items ADD CONSTRAINT stac_items_pkey PRIMARY KEY (collection_id, item_id);
ALTER TABLE dagapp.stac_items ADD CONSTRAINT stac_items_check CHECK ((ends_at >= starts_at));
ALTER TABLE dagapp.dag_jobs ADD CONSTRAINT dag_jobs_workflow_hash_fkey FOREIGN KEY (workflow_hash) REFERENCES dagapp.dag_workflow_versions(workflow_hash);
ALTER TABLE dagapp.dag_workflows ADD CONSTRAINT dag_workflows_workflow_hash_fkey FOREIGN KEY (workflow_hash) REFERENCES dagapp.dag_workflow_versions(workflow_hash);
ALTER TABLE dagapp.geo_load_chunks ADD CONSTRAINT geo_load_chunks_load_id_table_name_fkey FOREIGN KEY (load_id, table_name) REFERENCES dagapp.geo_loads(load_id, table_name) ON DELETE CASCADE;
ALTER TABLE dagapp.stac_items ADD CONSTRAINT stac_items_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES dagapp.stac_collections(collection_id);

CREATE INDEX dag_job_events_by_age ON dagapp.dag_job_events USING brin (created_at);
CREATE INDEX dag_jobs_active ON dagapp.dag_jobs USING btree (owner_id) WHERE (status = ANY (ARRAY['pending'::dagapp.job_status, 'running'::dagapp.job_status]));
CREATE INDEX dag_jobs_attention ON dagapp.dag_jobs USING btree (owner_id) WHERE attention;
CREATE INDEX dag_jobs_by_correlation ON dagapp.dag_jobs USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);
CREATE INDEX dag_jobs_by_workflow ON dagapp.dag_jobs USING btree (workflow_id, created_at DESC);
CREATE UNIQUE INDEX dag_jobs_idempotency ON dagapp.dag_jobs USING btree (idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX dag_jobs_newest ON dagapp.dag_jobs USING btree (created_at DESC);
CREATE UNIQUE INDEX dag_node_states_children ON dagapp.dag_node_states USING btree (job_id, parent_node_id, fan_out_index) WHERE (parent_node_id IS NOT NULL);
CREATE INDEX dag_node_states_due ON dagapp.dag_node_states USING btree (retry_at) WHERE (retry_at IS NOT NULL);
CREATE INDEX dag_queue_dead_by_queue ON dagapp.dag_queue_dead USING btree (queue, message_id DESC);
CREATE INDEX dag_queue_dead_unhandled ON dagapp.dag_queue_dead USING btree (message_id) WHERE (NOT handled);
CREATE INDEX dag_queue_leases_by_group ON dagapp.dag_queue_leases USING btree (group_key, message_key);
CREATE INDEX dag_queue_ready_by_group ON dagapp.dag_queue_ready USING btree (group_key) WHERE (group_key IS NOT NULL);
CREATE INDEX dag_queue_ready_delayed ON dagapp.dag_queue_ready USING btree (queue, visible_at) WHERE (visible_at IS NOT NULL);
CREATE INDEX dag_queue_ready_next ON dagapp.dag_queue_ready USING btree (queue, priority DESC, message_id) WHERE (visible_at IS NULL);
CREATE INDEX dag_queue_seen_expired ON dagapp.dag_queue_seen USING btree (until);
CREATE INDEX dag_task_logs_by_job ON dagapp.dag_task_logs USING btree (job_id, log_id);
CREATE INDEX dag_workflow_versions_by_workflow ON dagapp.dag_workflow_versions USING btree (workflow_id, created_at DESC);
CREATE INDEX geo_loads_by_table ON dagapp.geo_loads USING btree (table_name);
CREATE INDEX stac_items_by_box ON dagapp.stac_items USING gist (box);
CREATE INDEX stac_items_by_box_beyond ON dagapp.stac_items USING gist (box_beyond) WHERE (box_beyond IS NOT NULL);
CREATE INDEX stac_items_by_id ON dagapp.stac_items USING btree (item_id);
CREATE INDEX stac_items_by_path ON dagapp.stac_items USING gin (paths);
CREATE INDEX stac_items_by_table ON dagapp.stac_items USING gin (tables);
CREATE INDEX stac_items_newest ON dagapp.stac_items USING btree (starts_at DESC, collection_id, item_id);
CREATE INDEX stac_items_newest_of_collection ON dagapp.stac_items USING btree (collection_id, starts_at DESC, item_id);

CREATE TRIGGER job_transition BEFORE UPDATE OF status ON dagapp.dag_jobs FOR EACH ROW WHEN (((old.status <> new.status) AND (NOT
        CASE old.status
            WHEN 'pending'::dagapp.job_status THEN (new.status = ANY (ARRAY['running'::dagapp.job_status, 'cancelled'::dagapp.job_status]))
            WHEN 'running'::dagapp.job_status THEN (new.status = ANY (ARRAY['completed'::dagapp.job_status, 'failed'::dagapp.job_status, 'cancelled'::dagapp.job_status]))
            ELSE false
        END))) EXECUTE FUNCTION dagapp.refuse_transition('job');
CREATE TRIGGER node_transition BEFORE UPDATE OF status ON dagapp.dag_node_states FOR EACH ROW WHEN (((old.status <> new.status) AND (NOT
        CASE old.status
            WHEN 'pending'::dagapp.node_status THEN (new.status = ANY (ARRAY['ready'::dagapp.node_status, 'dispatched'::dagapp.node_status, 'running'::dagapp.node_status, 'completed'::dagapp.node_status, 'failed'::dagapp.node_status, 'skipped'::dagapp.node_status, 'cancelled'::dagapp.node_status]))
            WHEN 'ready'::dagapp.node_status THEN (new.status = ANY (ARRAY['dispatched'::dagapp.node_status, 'running'::dagapp.node_status, 'completed'::dagapp.node_status, 'failed'::dagapp.node_status, 'skipped'::dagapp.node_status, 'cancelled'::dagapp.node_status]))
            WHEN 'dispatched'::dagapp.node_status THEN (new.status = ANY (ARRAY['running'::dagapp.node_status, 'completed'::dagapp.node_status, 'failed'::dagapp.node_status, 'ready'::dagapp.node_status, 'cancelled'::dagapp.node_status]))
            WHEN 'running'::dagapp.node_status THEN (new.status = ANY (ARRAY['completed'::dagapp.node_status, 'failed'::dagapp.node_status, 'ready'::dagapp.node_status, 'cancelled'::dagapp.node_status]))
            WHEN 'failed'::dagapp.node_status THEN (new.status = 'ready'::dagapp.node_status)
            ELSE false
        END))) EXECUTE FUNCTION dagapp.refuse_transition('node');

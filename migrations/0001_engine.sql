-- Jobs, their nodes, results, events, and the processes that run them.
--
-- Rows of the three large tables (nodes, results, events) carry no foreign key to their job: every
-- one of them is written in the transaction that holds the job's row lock, and a key check per row
-- would take a share lock on that same row for each of the ten thousand children of a fan-out.

-- The settled states come last, because guards compare by this order: PostgreSQL parses every CHECK and
-- every WHEN of a table anew for each statement, and each value that one names costs a microsecond.
CREATE TYPE dagapp.job_status AS ENUM ('pending', 'running', 'completed', 'failed', 'cancelled');
CREATE TYPE dagapp.node_status AS ENUM (
  'pending', 'ready', 'dispatched', 'running', 'completed', 'failed', 'skipped', 'cancelled');
CREATE TYPE dagapp.node_type AS ENUM ('start', 'end', 'task', 'conditional', 'fan_out', 'fan_in');
CREATE TYPE dagapp.task_status AS ENUM ('completed', 'failed');
CREATE TYPE dagapp.event_status AS ENUM ('info', 'success', 'warning', 'error');

-- What can be said of one column is said by its type: a connection parses a domain once, and looks only
-- at the columns that a statement writes.
CREATE DOMAIN dagapp.job_key AS text CONSTRAINT job_key_length CHECK (length(VALUE) BETWEEN 1 AND 64);
CREATE DOMAIN dagapp.priority AS smallint CONSTRAINT priority_range CHECK (VALUE BETWEEN 0 AND 10);
CREATE DOMAIN dagapp.natural_number AS integer CONSTRAINT not_negative CHECK (VALUE >= 0);
CREATE DOMAIN dagapp.jsonb_object AS jsonb
  CONSTRAINT is_an_object CHECK (jsonb_typeof(VALUE) = 'object');

-- A definition is immutable and named by its content; a job keeps the hash it started with.
CREATE TABLE dagapp.dag_workflow_versions (
  workflow_hash text PRIMARY KEY CHECK (workflow_hash ~ '^[0-9a-f]{64}$'),
  workflow_id   text NOT NULL,
  version       text NOT NULL,
  definition    jsonb NOT NULL,
  source        text,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX dag_workflow_versions_by_workflow
  ON dagapp.dag_workflow_versions (workflow_id, created_at DESC);

-- Which version new submissions of a workflow use.
CREATE TABLE dagapp.dag_workflows (
  workflow_id   text PRIMARY KEY,
  workflow_hash text NOT NULL REFERENCES dagapp.dag_workflow_versions,
  is_active     boolean NOT NULL DEFAULT true,
  updated_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE dagapp.dag_jobs (
  job_id              dagapp.job_key PRIMARY KEY,
  workflow_id         text NOT NULL,
  workflow_hash       text NOT NULL REFERENCES dagapp.dag_workflow_versions,
  workflow_version    text NOT NULL,
  status              dagapp.job_status NOT NULL DEFAULT 'pending',
  priority            dagapp.priority NOT NULL DEFAULT 0,
  input_params        jsonb NOT NULL DEFAULT '{}',
  result_data         jsonb,
  error_code          text,
  error_message       text,
  failed_node_id      text,
  owner_id            text,
  correlation_id      text,
  idempotency_key     text,
  submitted_by        text,
  callback_url        text,
  rerun_of            text,
  paused_at           timestamptz,
  cancel_requested_at timestamptz,
  cancel_reason       text,
  -- Somebody asked for something (cancel, resume, a new owner): the owner's next tick looks.
  attention           boolean NOT NULL DEFAULT false,
  nodes_total         integer NOT NULL,
  nodes_unsettled     dagapp.natural_number NOT NULL,
  -- The number of the job's last event: events are numbered without gaps under the row's lock.
  event_seq           integer NOT NULL DEFAULT 0,
  metadata            jsonb NOT NULL DEFAULT '{}',
  version             integer NOT NULL DEFAULT 1,
  created_at          timestamptz NOT NULL DEFAULT now(),
  started_at          timestamptz,
  updated_at          timestamptz NOT NULL DEFAULT now(),
  completed_at        timestamptz,
  CONSTRAINT unsettled_of_total CHECK (nodes_unsettled <= nodes_total),
  CONSTRAINT finished_has_a_time CHECK ((status >= 'completed') = (completed_at IS NOT NULL)),
  CONSTRAINT started_has_a_time
    CHECK (status = 'pending' OR status = 'cancelled' OR started_at IS NOT NULL),
  CONSTRAINT failed_has_a_reason CHECK (status <> 'failed' OR error_message IS NOT NULL),
  CONSTRAINT cancelled_was_requested
    CHECK (status <> 'cancelled' OR cancel_requested_at IS NOT NULL),
  CONSTRAINT completed_is_settled CHECK (status <> 'completed' OR nodes_unsettled = 0)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX dag_jobs_idempotency
  ON dagapp.dag_jobs (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX dag_jobs_by_correlation
  ON dagapp.dag_jobs (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX dag_jobs_active
  ON dagapp.dag_jobs (owner_id) WHERE status IN ('pending', 'running');
CREATE INDEX dag_jobs_attention
  ON dagapp.dag_jobs (owner_id) WHERE attention;
-- Without the job's id, by which lists are sorted further: PostgreSQL 18 can skip to a column behind
-- others, and a plan that is made while the table is empty would do so instead of using the key.
CREATE INDEX dag_jobs_newest ON dagapp.dag_jobs (created_at DESC);
CREATE INDEX dag_jobs_by_workflow ON dagapp.dag_jobs (workflow_id, created_at DESC);

-- Every row is rewritten about once, and grows by its output: with room for both on its page, no index
-- hears of it.
CREATE TABLE dagapp.dag_node_states (
  job_id          text NOT NULL,
  node_id         text NOT NULL,
  node_type       dagapp.node_type NOT NULL,
  status          dagapp.node_status NOT NULL DEFAULT 'pending',
  parent_node_id  text,
  fan_out_index   integer,
  attempt         dagapp.natural_number NOT NULL DEFAULT 0,
  retry_count     dagapp.natural_number NOT NULL DEFAULT 0,
  throttle_count  dagapp.natural_number NOT NULL DEFAULT 0,
  max_retries     dagapp.natural_number NOT NULL DEFAULT 0,
  task_id         text,
  handler         text,
  queue           text,
  timeout_seconds integer,
  input_params    jsonb,
  output          dagapp.jsonb_object,
  error           jsonb,
  worker_id       text,
  retry_at        timestamptz,
  -- Of an expanded fan-out: {total, next_index, completed, failed, failed_indexes}.
  fan_out         jsonb,
  created_at      timestamptz NOT NULL DEFAULT now(),
  dispatched_at   timestamptz,
  started_at      timestamptz,
  completed_at    timestamptz,
  PRIMARY KEY (job_id, node_id),
  CONSTRAINT settled_has_a_time CHECK ((status >= 'completed') = (completed_at IS NOT NULL)),
  CONSTRAINT dispatched_has_a_task CHECK (status <> 'dispatched' OR task_id IS NOT NULL),
  CONSTRAINT failed_has_an_error CHECK (status <> 'failed' OR error IS NOT NULL),
  CONSTRAINT skipped_has_no_output CHECK (status <> 'skipped' OR output IS NULL),
  CONSTRAINT retry_waits_in_ready CHECK (retry_at IS NULL OR status = 'ready'),
  CONSTRAINT child_has_an_index CHECK ((parent_node_id IS NULL) = (fan_out_index IS NULL)),
  CONSTRAINT only_a_fan_out_has_children CHECK (fan_out IS NULL OR node_type = 'fan_out')
) WITH (fillfactor = 40);
CREATE UNIQUE INDEX dag_node_states_children
  ON dagapp.dag_node_states (job_id, parent_node_id, fan_out_index)
  WHERE parent_node_id IS NOT NULL;
CREATE INDEX dag_node_states_due
  ON dagapp.dag_node_states (retry_at) WHERE retry_at IS NOT NULL;

CREATE TABLE dagapp.dag_task_results (
  task_id       text PRIMARY KEY,
  job_id        text NOT NULL,
  node_id       text NOT NULL,
  status        dagapp.task_status NOT NULL,
  output        jsonb,
  error         jsonb,
  worker_id     text,
  started_at    timestamptz,
  reported_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT completed_has_output CHECK (
    (status = 'completed') = (output IS NOT NULL) AND (status = 'failed') = (error IS NOT NULL))
);

-- Results that wait for their job's owner. A table of its own, so that a result is written once and
-- never again: a mark in its row would write the row, its output and its index entries a second time.
CREATE TABLE dagapp.dag_task_inbox (
  seq     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id text NOT NULL,
  job_id  text NOT NULL
);

CREATE TABLE dagapp.dag_job_events (
  job_id          text NOT NULL,
  seq             integer NOT NULL CHECK (seq > 0),
  event_type      text NOT NULL,
  event_status    dagapp.event_status NOT NULL DEFAULT 'info',
  node_id         text,
  task_id         text,
  event_data      jsonb,
  checkpoint_name text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, seq)
);
CREATE INDEX dag_job_events_by_age ON dagapp.dag_job_events USING brin (created_at);

CREATE TABLE dagapp.dag_checkpoints (
  job_id     text NOT NULL,
  node_id    text NOT NULL,
  seq        integer NOT NULL CHECK (seq > 0),
  task_id    text NOT NULL,
  phase      text NOT NULL,
  data       jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, node_id, seq)
);

CREATE TABLE dagapp.dag_task_logs (
  log_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id    text NOT NULL,
  node_id   text NOT NULL,
  task_id   text NOT NULL,
  level     text NOT NULL CHECK (level IN ('debug', 'info', 'warn', 'error')),
  message   text NOT NULL,
  data      jsonb,
  logged_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX dag_task_logs_by_job ON dagapp.dag_task_logs (job_id, log_id);

-- One row and one heartbeat per process, never one per job: a job is orphaned with its owner.
CREATE TABLE dagapp.dag_orchestrators (
  owner_id     text PRIMARY KEY,
  host         text NOT NULL,
  pid          integer NOT NULL,
  version      text NOT NULL,
  -- Where workers reach it directly, and what they prove that they may; absent: they do not.
  link_address text,
  link_key     text,
  -- It shows jobs live: whoever writes an event notifies.
  watches      boolean NOT NULL DEFAULT false,
  started_at   timestamptz NOT NULL DEFAULT now(),
  heartbeat_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE dagapp.dag_workers (
  worker_id    text PRIMARY KEY,
  host         text NOT NULL,
  pid          integer NOT NULL,
  version      text NOT NULL,
  queues       text[] NOT NULL,
  slots        integer NOT NULL CHECK (slots > 0),
  busy         integer NOT NULL DEFAULT 0,
  started_at   timestamptz NOT NULL DEFAULT now(),
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  -- Which one it runs: engine, version, codecs.
  gdal         jsonb
) WITH (fillfactor = 50);

-- Ends a transaction that was decided on something that is no longer true.
CREATE FUNCTION dagapp.insist(holds boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT holds THEN
    RAISE EXCEPTION 'what was assumed does not hold' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;

-- The transitions of core/model, as guards; a test tries every pair against the code's own table. WHEN
-- is coarse and small: it lets nearly every legal update pass without a call, and a function decides
-- about the rest. It looks afterwards, because a trigger that looks before locks every row on its own.
CREATE FUNCTION dagapp.guard_job_transition() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

-- Passes what stays pending, and what was running and goes nowhere but on.
CREATE TRIGGER job_transition AFTER UPDATE OF status ON dagapp.dag_jobs
FOR EACH ROW WHEN (OLD.status <> LEAST(NEW.status, 'running'))
EXECUTE FUNCTION dagapp.guard_job_transition();

CREATE FUNCTION dagapp.guard_node_transition() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

-- Passes what was not settled and does not go back, unless it is skipped.
CREATE TRIGGER node_transition AFTER UPDATE OF status ON dagapp.dag_node_states
FOR EACH ROW WHEN (OLD.status > LEAST(NEW.status, 'running') OR NEW.status = 'skipped')
EXECUTE FUNCTION dagapp.guard_node_transition();

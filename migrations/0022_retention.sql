-- Programs from 14 on can live with this schema.

-- How far the removal of old rows has come, a row for each class. An orchestrator holds the row's lock
-- while it removes a batch, so that one of them works at a time. A pass walks the finished jobs from
-- the oldest on; what was kept is looked at again by the next pass.
CREATE TABLE dagapp.dag_retention (
  class            text PRIMARY KEY,
  pass_started_at  timestamptz,
  pass_finished_at timestamptz,
  after_created_at timestamptz,
  after_job_id     text,
  removed_rows     bigint NOT NULL DEFAULT 0,
  archived_rows    bigint NOT NULL DEFAULT 0,
  CONSTRAINT finished_after_its_start CHECK (pass_finished_at >= pass_started_at)
);
INSERT INTO dagapp.dag_retention (class)
VALUES ('logs'), ('events'), ('results'), ('jobs'), ('callbacks'), ('requests'), ('dead_letters');

-- Parquet files in storage with rows that were removed.
CREATE TABLE dagapp.dag_archives (
  archive_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  class      text NOT NULL REFERENCES dagapp.dag_retention (class),
  path       text NOT NULL UNIQUE,
  row_count  integer NOT NULL CHECK (row_count > 0),
  bytes      bigint NOT NULL CHECK (bytes > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- In which files the rows of a job are.
CREATE TABLE dagapp.dag_archived_jobs (
  job_id     text NOT NULL,
  archive_id bigint NOT NULL REFERENCES dagapp.dag_archives (archive_id),
  PRIMARY KEY (job_id, archive_id)
);

-- A fifth of a table of millions is too many dead rows to wait for.
ALTER TABLE dagapp.dag_jobs SET
  (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE dagapp.dag_node_states SET
  (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE dagapp.dag_task_results SET
  (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE dagapp.dag_job_events SET
  (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE dagapp.dag_task_logs SET
  (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

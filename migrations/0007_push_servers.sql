-- Push servers of the PostgreSQL broker. An orchestrator's broker listens at `address`; workers read
-- this table, connect, and prove with `key` that they can read it.
CREATE TABLE dagapp.dag_push_servers (
  holder  text PRIMARY KEY,
  host    text NOT NULL,
  address text NOT NULL,
  key     text NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE dagapp.dag_orchestrators DROP COLUMN link_address, DROP COLUMN link_key;

-- The words of the field for what has landed under others.
-- A dirty job is evaluated whole at its owner's next tick.
ALTER TABLE dagapp.dag_jobs RENAME COLUMN attention TO dirty;
ALTER INDEX dagapp.dag_jobs_attention RENAME TO dag_jobs_dirty;
-- Deliveries that ended by a release, which do not count against max_deliveries.
ALTER TABLE dagapp.dag_queue_ready RENAME COLUMN handed_back TO released;
ALTER TABLE dagapp.dag_queue_leases RENAME COLUMN handed_back TO released;
ALTER TABLE dagapp.dag_queue_dead RENAME COLUMN handed_back TO released;

-- Fails a transaction whose decisions rest on a state that has changed since.
ALTER FUNCTION dagapp.insist(boolean) RENAME TO expect;
CREATE OR REPLACE FUNCTION dagapp.expect(holds boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT holds THEN
    RAISE EXCEPTION 'the expected state has changed' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;

-- Tasks that a worker runs now. Readers of jobs use this view and not the tables of a broker; a
-- broker outside of this database adds the rows of its own workers to it.
CREATE VIEW dagapp.dag_running_tasks AS
SELECT message_key AS task_id, group_key AS job_id, holder AS worker_id, leased_at AS started_at,
  progress_percent, progress_message
FROM dagapp.dag_queue_leases WHERE group_key IS NOT NULL;

-- On the guards of 0005: their transitions stand in WHEN alone. Those of 0001 differ: there WHEN is a
-- coarse filter, and a function decides. Both rely on the order of the enums' values only where they
-- compare with < or >, so a new value goes where its state belongs in that order.

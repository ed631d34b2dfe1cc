-- Programs from 10 on can live with this schema.

-- Contracts of handlers, as workers register them. A contract stays when its last worker is gone, so
-- that a workflow which names the handler remains valid and its tasks wait for the next worker.
CREATE TABLE dagapp.dag_handlers (
  handler          text NOT NULL,
  -- SHA-256 of the contract: two workers with the same contract share the row.
  contract_hash    text NOT NULL CHECK (contract_hash ~ '^[0-9a-f]{64}$'),
  contract         jsonb NOT NULL,
  first_offered_at timestamptz NOT NULL DEFAULT now(),
  last_offered_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (handler, contract_hash)
);

-- Which process offers which contract; the rows go with the process.
CREATE TABLE dagapp.dag_handler_offers (
  worker_id     text NOT NULL REFERENCES dagapp.dag_workers ON DELETE CASCADE,
  handler       text NOT NULL,
  contract_hash text NOT NULL,
  PRIMARY KEY (worker_id, handler),
  FOREIGN KEY (handler, contract_hash) REFERENCES dagapp.dag_handlers ON DELETE CASCADE
);
CREATE INDEX dag_handler_offers_by_handler ON dagapp.dag_handler_offers (handler);

-- Null: a token is not confined to queues or handlers.
ALTER TABLE dagapp.access_tokens ADD COLUMN queues text[], ADD COLUMN handlers text[];

-- Numbers that a handler measured of one attempt. A table of its own: few handlers report any, and
-- the row of a result stays as narrow as the engine needs it.
CREATE TABLE dagapp.dag_task_metrics (
  task_id               text PRIMARY KEY,
  job_id                text NOT NULL REFERENCES dagapp.dag_jobs ON DELETE CASCADE,
  metrics               jsonb,
  execution_duration_ms double precision,
  reported_at           timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX dag_task_metrics_by_job ON dagapp.dag_task_metrics (job_id);

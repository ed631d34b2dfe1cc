-- Programs from 14 on can live with this schema.

-- The trace that a job belongs to, as the header `traceparent` names it: the request that submitted the
-- job. Null: the job is not traced. The job's own span and those of its tasks follow from it.
ALTER TABLE dagapp.dag_jobs ADD COLUMN trace_parent varchar(55);

-- The span that a callback is sent under; the partner gets it as a header.
ALTER TABLE dagapp.callback_deliveries ADD COLUMN trace_parent varchar(55);

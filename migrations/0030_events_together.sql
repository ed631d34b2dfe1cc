-- Fewer rows for the events of a job.
-- Programs from 20 on can live with this schema.

-- Events that a job gets in one commit are one row, whose own columns are the last of them: a row and its
-- index entry cost more than the event. `earlier` are those before it, in order, each as
-- [event_type, event_status, node_id, task_id, event_data] without the nulls at its end.
ALTER TABLE dagapp.dag_job_events ADD COLUMN earlier jsonb;

-- Every event by itself, as before. Read it by job_id and last_seq, in the order of last_seq and seq. The
-- null behind `earlier` stands for the row's own event.
CREATE OR REPLACE VIEW dagapp.dag_unpacked_events AS
  SELECT e.job_id,
    e.seq - coalesce(cardinality(e.children) - child.place, jsonb_array_length(e.earlier) + 1 - part.place, 0)::integer
      AS seq,
    coalesce(part.event ->> 0, e.event_type) AS event_type,
    coalesce((part.event ->> 1)::dagapp.event_status, e.event_status) AS event_status,
    CASE WHEN child.index IS NOT NULL THEN e.node_id || '__' || child.index
      WHEN jsonb_typeof(part.event) = 'array' THEN part.event ->> 2 ELSE e.node_id END AS node_id,
    CASE WHEN jsonb_typeof(part.event) = 'array' THEN part.event ->> 3 ELSE e.task_id END AS task_id,
    e.checkpoint_name,
    CASE WHEN jsonb_typeof(part.event) = 'array' THEN part.event -> 4 ELSE e.event_data END AS event_data,
    e.created_at, e.seq AS last_seq
  FROM dagapp.dag_job_events e
  LEFT JOIN LATERAL unnest(e.children) WITH ORDINALITY AS child(index, place) ON true
  LEFT JOIN LATERAL jsonb_array_elements(e.earlier || 'null'::jsonb) WITH ORDINALITY AS part(event, place) ON true;

-- Fewer rows for a task that succeeds.
-- Programs from 18 on can live with this schema.

-- Children of a fan-out that complete in one tick are one row: `children` are their indexes, in the
-- order of their numbers, `seq` is the number of the last, and `node_id` is the fan-out.
ALTER TABLE dagapp.dag_job_events ADD COLUMN children integer[];

-- Every event by itself. Read it by job_id and last_seq, in the order of last_seq and seq: then the
-- primary key serves, and a page costs the same wherever it begins.
CREATE VIEW dagapp.dag_unpacked_events AS
  SELECT e.job_id, e.seq - coalesce(cardinality(e.children) - child.place, 0)::integer AS seq,
    e.event_type, e.event_status,
    CASE WHEN child.index IS NULL THEN e.node_id ELSE e.node_id || '__' || child.index END AS node_id,
    e.task_id, e.checkpoint_name, e.event_data, e.created_at, e.seq AS last_seq
  FROM dagapp.dag_job_events e
  LEFT JOIN LATERAL unnest(e.children) WITH ORDINALITY AS child(index, place) ON true;

CREATE OR REPLACE VIEW gateway.job_events AS
  SELECT job_id, seq, event_type, event_status, node_id, task_id, checkpoint_name, event_data,
    created_at, last_seq
  FROM dagapp.dag_unpacked_events;

-- How each attempt ended. The success of a node is in its row; a result has a row of its own when it
-- is a failure, or waited in the inbox. Read it by task_id, job_id and node_id together: the keys of
-- the two tables.
CREATE VIEW dagapp.dag_attempts AS
  SELECT task_id, job_id, node_id, status, output, error, worker_id, started_at, reported_at
  FROM dagapp.dag_task_results
  UNION ALL
  SELECT n.task_id, n.job_id, n.node_id, 'completed'::dagapp.task_status, n.output::jsonb,
    NULL::jsonb, n.worker_id, n.started_at, n.completed_at
  FROM dagapp.dag_node_states n
  WHERE n.status = 'completed' AND n.task_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM dagapp.dag_task_results r WHERE r.task_id = n.task_id);

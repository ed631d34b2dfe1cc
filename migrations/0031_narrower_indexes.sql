-- Fewer and smaller index entries for a task.
-- Programs from 20 on can live with this schema.

-- The leases of a job are read together, and equal keys share their entry. With the message in the key each
-- entry had its own 90 bytes.
DROP INDEX dagapp.dag_queue_leases_by_group;
CREATE INDEX dag_queue_leases_by_group ON dagapp.dag_queue_leases (group_key);

-- Half of each page was kept free for renewals. Leases of short tasks are never renewed, and those of long
-- ones find the room of leases that have ended.
ALTER TABLE dagapp.dag_queue_leases SET (fillfactor = 90);

-- The name of a child is made of its fan-out and its index, so the primary key finds it, and keeps it unique.
DROP INDEX dagapp.dag_node_states_children;

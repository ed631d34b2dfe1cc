-- Programs from 10 on can live with this schema.

-- A message whose worker died with other messages is a suspect: it is delivered again to a worker that
-- runs nothing else, until it completes or its worker dies of it alone.

-- Deliveries that ended with a lost lease while other messages ran beside; they do not count against
-- max_deliveries (`released` counts them too).
ALTER TABLE dagapp.dag_queue_ready ADD COLUMN lost integer NOT NULL DEFAULT 0;
ALTER TABLE dagapp.dag_queue_leases ADD COLUMN lost integer NOT NULL DEFAULT 0;
ALTER TABLE dagapp.dag_queue_dead ADD COLUMN lost integer NOT NULL DEFAULT 0;

-- The worker with which the message was lost; NULL: not a suspect. The lease of a suspect runs alone.
-- A waiting suspect has a `visible_at`, which keeps it out of the index that every fetch reads.
ALTER TABLE dagapp.dag_queue_ready ADD COLUMN suspect text;
ALTER TABLE dagapp.dag_queue_leases ADD COLUMN suspect text;
CREATE INDEX dag_queue_ready_suspects
  ON dagapp.dag_queue_ready (queue, visible_at) WHERE suspect IS NOT NULL;

-- The oldest program that can live with the schema, for programs that do not know its newest files.
CREATE OR REPLACE VIEW gateway.schema_version AS
  SELECT max(version) AS version, (
    SELECT min(program.version) FROM dagapp.schema_migrations program
    WHERE NOT EXISTS (
      SELECT FROM dagapp.schema_migrations newer
      WHERE newer.version > program.version
        AND coalesce(newer.oldest_program, newer.version) > program.version)) AS oldest_program
  FROM dagapp.schema_migrations;

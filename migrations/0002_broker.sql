-- The default broker: messages as rows. Ready and leased messages live in two tables, so that the
-- partial index which every fetch walks holds nothing but messages that can be taken.

CREATE TABLE dagapp.dag_queues (
  queue          text PRIMARY KEY,
  lease_ms       integer NOT NULL CHECK (lease_ms > 0),
  max_deliveries integer NOT NULL CHECK (max_deliveries > 0),
  dedupe_ms      integer NOT NULL DEFAULT 0 CHECK (dedupe_ms >= 0)
);

CREATE TABLE dagapp.dag_queue_ready (
  -- Without an index: a message is found by its queue or its group, and then taken by its place.
  message_id  bigint GENERATED ALWAYS AS IDENTITY,
  queue       text NOT NULL,
  priority    smallint NOT NULL DEFAULT 0,
  -- Absent: it can be taken now.
  visible_at  timestamptz,
  -- Only ever grows, so that with message_id it names one delivery: the fence of every settling.
  deliveries  integer NOT NULL DEFAULT 0,
  -- Deliveries that a stopping worker gave back untouched: they do not count against the limit.
  handed_back integer NOT NULL DEFAULT 0,
  message_key text NOT NULL,
  group_key   text,
  headers     jsonb,
  body        text NOT NULL,
  enqueued_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX dag_queue_ready_next
  ON dagapp.dag_queue_ready (queue, priority DESC, message_id) WHERE visible_at IS NULL;
CREATE INDEX dag_queue_ready_delayed
  ON dagapp.dag_queue_ready (queue, visible_at) WHERE visible_at IS NOT NULL;
CREATE INDEX dag_queue_ready_by_group
  ON dagapp.dag_queue_ready (group_key) WHERE group_key IS NOT NULL;

CREATE TABLE dagapp.dag_queue_leases (
  message_id       bigint PRIMARY KEY,
  queue            text NOT NULL,
  priority         smallint NOT NULL,
  deliveries       integer NOT NULL,
  handed_back      integer NOT NULL,
  message_key      text NOT NULL,
  group_key        text,
  headers          jsonb,
  body             text NOT NULL,
  enqueued_at      timestamptz NOT NULL,
  holder           text NOT NULL,
  leased_at        timestamptz NOT NULL DEFAULT now(),
  until            timestamptz NOT NULL,
  cancelled        boolean NOT NULL DEFAULT false,
  progress_percent real,
  progress_message text
) WITH (fillfactor = 50);
-- There is none by time: leases are as few as the slots of all workers, and the sweep that looks for
-- old ones is rare, while every task would pay for the index.
CREATE INDEX dag_queue_leases_by_group ON dagapp.dag_queue_leases (group_key, message_key);

CREATE TABLE dagapp.dag_queue_dead (
  message_id  bigint PRIMARY KEY,
  queue       text NOT NULL,
  priority    smallint NOT NULL,
  deliveries  integer NOT NULL,
  handed_back integer NOT NULL,
  message_key text NOT NULL,
  group_key   text,
  headers     jsonb,
  body        text NOT NULL,
  enqueued_at timestamptz NOT NULL,
  reason      text NOT NULL,
  detail      text,
  died_at     timestamptz NOT NULL DEFAULT now(),
  -- Its node has been told.
  handled     boolean NOT NULL DEFAULT false
);
CREATE INDEX dag_queue_dead_by_queue ON dagapp.dag_queue_dead (queue, message_id DESC);

CREATE INDEX dag_queue_dead_unhandled ON dagapp.dag_queue_dead (message_id) WHERE NOT handled;

-- Keys seen within the queue's window, for duplicate detection.
CREATE TABLE dagapp.dag_queue_seen (
  queue       text NOT NULL,
  message_key text NOT NULL,
  until       timestamptz NOT NULL,
  PRIMARY KEY (queue, message_key)
);
CREATE INDEX dag_queue_seen_expired ON dagapp.dag_queue_seen (until);

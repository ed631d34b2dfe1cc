-- Programs from 14 on can live with this schema.

-- Files that arrive in parts. Their bytes are staged beside the zones of storage; `received` says how
-- many of them are confirmed, and a writer that is not named here any more cannot confirm others.
CREATE TABLE dagapp.uploads (
  upload_id    text PRIMARY KEY,
  path         text NOT NULL,
  length       bigint NOT NULL CHECK (length >= 0),
  received     bigint NOT NULL DEFAULT 0,
  sha256       text CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  metadata     jsonb NOT NULL DEFAULT '{}',
  replaces     boolean NOT NULL DEFAULT false,
  platform_id  text,
  created_by   text NOT NULL,
  writer       text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  completed_at timestamptz,
  CONSTRAINT received_within_length CHECK (received BETWEEN 0 AND length),
  CONSTRAINT completed_when_received CHECK (completed_at IS NULL OR received = length)
);
CREATE INDEX uploads_expiry ON dagapp.uploads (expires_at);
CREATE INDEX uploads_by_path ON dagapp.uploads (path, created_at);

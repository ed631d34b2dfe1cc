-- Sign-in to the console, and tokens with a name and an expiry. Of every secret only the SHA-256 is
-- stored: the secrets are random, so a slow hash would add nothing.

CREATE TABLE dagapp.access_tokens (
  token_id     text PRIMARY KEY,
  name         text NOT NULL CHECK (name ~ '^[A-Za-z0-9_.-]{1,64}$'),
  sha256       text NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  access       text[] NOT NULL CHECK (cardinality(access) > 0),
  created_at   timestamptz NOT NULL DEFAULT now(),
  created_by   text NOT NULL,
  expires_at   timestamptz NOT NULL CONSTRAINT access_token_ends CHECK (expires_at > created_at),
  last_used_at timestamptz,
  revoked_at   timestamptz,
  revoked_by   text
);
-- The history names tokens, so two that can be used never have the same name.
CREATE UNIQUE INDEX access_tokens_by_name ON dagapp.access_tokens (name) WHERE revoked_at IS NULL;

-- A code opens one session. `token_sha256` is the token that the code was made with, if it was one:
-- what a token has opened ends with the token.
CREATE TABLE dagapp.login_codes (
  sha256       text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  name         text NOT NULL,
  access       text[] NOT NULL CHECK (cardinality(access) > 0),
  token_sha256 text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL CONSTRAINT login_code_ends CHECK (expires_at > created_at),
  used_at      timestamptz
);

CREATE TABLE dagapp.console_sessions (
  -- Names the session in lists; the browser's secret is another value.
  session_id   text PRIMARY KEY,
  sha256       text NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  name         text NOT NULL,
  access       text[] NOT NULL CHECK (cardinality(access) > 0),
  opened_with  text NOT NULL CHECK (opened_with IN ('code', 'token')),
  token_sha256 text,
  address      text,
  user_agent   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL CONSTRAINT session_ends CHECK (expires_at > created_at),
  ended_at     timestamptz,
  ended_by     text
);
CREATE INDEX console_sessions_newest ON dagapp.console_sessions (created_at DESC);

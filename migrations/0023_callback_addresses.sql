-- Programs from 14 on can live with this schema.

-- Further addresses for the callbacks of a platform, each with a secret of its own. A request still
-- has one address: the one that it names, or the platform's.
CREATE TABLE dagapp.platform_callbacks (
  platform_id       text NOT NULL REFERENCES dagapp.platforms (platform_id),
  name              text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
  url               text NOT NULL,
  -- Empty: all of them.
  event_types       text[] NOT NULL DEFAULT '{}',
  is_active         boolean NOT NULL DEFAULT true,
  secret_number     integer NOT NULL DEFAULT 1 CHECK (secret_number > 0),
  secret_changed_at timestamptz,
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (platform_id, name)
);

-- The address that a callback goes to; null: the one of its request, platform or job.
ALTER TABLE dagapp.callback_deliveries ADD COLUMN callback_name text;

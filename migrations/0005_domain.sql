-- The governed platform: who submits (platforms, keys), what was submitted (requests), what came of
-- it (assets, versions, revisions), who decided what (events), how it is shown (layers) and who is
-- told (callbacks).
--
-- Jobs are named here without a foreign key: the domain's rows are written before the job's own, so
-- that a job which ends in its first evaluation finds them, and they outlive the job's retention.

CREATE TYPE dagapp.clearance_state AS ENUM ('uncleared', 'ouo', 'public');
CREATE TYPE dagapp.approval_state AS ENUM ('pending_review', 'approved', 'rejected');
CREATE TYPE dagapp.processing_state AS ENUM ('queued', 'processing', 'completed', 'failed');
CREATE TYPE dagapp.export_state AS ENUM ('running', 'completed', 'failed', 'withdrawn');
CREATE TYPE dagapp.exposure AS ENUM ('latest-only', 'all-versions');
CREATE TYPE dagapp.request_kind AS ENUM ('submit', 'resubmit', 'reprocess');
CREATE TYPE dagapp.request_status AS ENUM (
  'pending', 'running', 'completed', 'failed', 'cancelled');
CREATE TYPE dagapp.job_purpose AS ENUM ('process', 'export', 'withdraw', 'unpublish');
CREATE TYPE dagapp.delivery_state AS ENUM ('pending', 'delivered', 'exhausted');

CREATE TABLE dagapp.platforms (
  platform_id     text PRIMARY KEY CHECK (platform_id ~ '^[a-z][a-z0-9_-]{0,62}$'),
  display_name    text NOT NULL,
  required_refs   text[] NOT NULL CHECK (cardinality(required_refs) > 0),
  optional_refs   text[] NOT NULL DEFAULT '{}',
  -- The reference in which the platform sends its version; it names a version and no asset.
  version_ref     text,
  is_active       boolean NOT NULL DEFAULT true,
  callback_url    text,
  callback_hosts  text[] NOT NULL DEFAULT '{}',
  -- Places that its files may lie at; none named: wherever sources may come from.
  source_prefixes text[] NOT NULL DEFAULT '{}',
  -- Signing secrets are derived from the operator's key and this number, and stored nowhere.
  secret_number   integer NOT NULL DEFAULT 1 CHECK (secret_number > 0),
  secret_changed_at timestamptz,
  row_version     integer NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT refs_are_apart CHECK (
    NOT required_refs && optional_refs AND
    (version_ref IS NULL OR NOT version_ref = ANY (required_refs || optional_refs)))
);
INSERT INTO dagapp.platforms (platform_id, display_name, required_refs, optional_refs, version_ref)
VALUES
  ('ddh', 'Data Distribution Hub', '{dataset_id,resource_id}', '{}', 'version_id'),
  ('arcgis', 'ArcGIS', '{item_id,layer_index}', '{}', 'version'),
  ('geonode', 'GeoNode', '{uuid}', '{}', 'version');

CREATE TABLE dagapp.api_keys (
  key_id       text PRIMARY KEY CHECK (key_id ~ '^[0-9a-f]{12}$'),
  platform_id  text NOT NULL REFERENCES dagapp.platforms,
  name         text NOT NULL,
  -- SHA-256 of the whole key: 32 random bytes need no slow hash, and the key is kept nowhere.
  key_hash     text NOT NULL UNIQUE CHECK (key_hash ~ '^[0-9a-f]{64}$'),
  scopes       text[] NOT NULL CHECK (
    cardinality(scopes) > 0 AND scopes <@ '{submit,read,curate,admin}'::text[]),
  created_at   timestamptz NOT NULL DEFAULT now(),
  created_by   text NOT NULL,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  revoked_by   text,
  rotated_from text REFERENCES dagapp.api_keys,
  CONSTRAINT revoked_by_somebody CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE INDEX api_keys_by_platform ON dagapp.api_keys (platform_id, created_at DESC);

CREATE TABLE dagapp.geospatial_assets (
  asset_id        text PRIMARY KEY CHECK (asset_id ~ '^[0-9a-f]{32}$'),
  platform_id     text NOT NULL REFERENCES dagapp.platforms,
  platform_refs   jsonb NOT NULL CHECK (jsonb_typeof(platform_refs) = 'object'),
  clearance_state dagapp.clearance_state NOT NULL DEFAULT 'uncleared',
  cleared_at      timestamptz,
  cleared_by      text,
  made_public_at  timestamptz,
  made_public_by  text,
  exposure        dagapp.exposure NOT NULL DEFAULT 'latest-only',
  latest_approved_version_ordinal integer,
  -- Counts every change of the asset or of one of its versions: what If-Match is compared with.
  row_version     integer NOT NULL DEFAULT 1,
  deleted_at      timestamptz,
  deleted_by      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT cleared_by_somebody CHECK (
    clearance_state = 'uncleared' OR (cleared_at IS NOT NULL AND cleared_by IS NOT NULL)),
  CONSTRAINT made_public_by_somebody CHECK (
    clearance_state <> 'public' OR (made_public_at IS NOT NULL AND made_public_by IS NOT NULL)),
  CONSTRAINT deleted_by_somebody CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
);
CREATE INDEX geospatial_assets_by_refs ON dagapp.geospatial_assets USING gin (platform_refs);
CREATE INDEX geospatial_assets_newest
  ON dagapp.geospatial_assets (updated_at DESC, asset_id DESC);

CREATE TABLE dagapp.asset_versions (
  asset_id           text NOT NULL REFERENCES dagapp.geospatial_assets,
  version_ordinal    integer NOT NULL CHECK (version_ordinal >= 0),
  version_label      text NOT NULL,
  approval_state     dagapp.approval_state NOT NULL DEFAULT 'pending_review',
  reviewer           text,
  reviewed_at        timestamptz,
  rejection_reason   text,
  -- An approval that was taken back. The version then waits for review again.
  withdrawn_at       timestamptz,
  processing_state   dagapp.processing_state NOT NULL DEFAULT 'queued',
  processing_error   text,
  request_id         text NOT NULL,
  workflow_id        text NOT NULL,
  current_job_id     text,
  revision           integer NOT NULL DEFAULT 1 CHECK (revision > 0),
  -- Which revision's outputs are served: it stays behind `revision` while one is being made.
  served_revision    integer,
  content_hash       text,
  blob_path          text,
  table_name         text,
  stac_collection_id text,
  stac_item_id       text,
  export_state       dagapp.export_state,
  export_job_id      text,
  exported_revision  integer,
  external_blob_path text,
  adf_run_id         text,
  deleted_at         timestamptz,
  deleted_by         text,
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (asset_id, version_ordinal),
  CONSTRAINT reviewed_by_somebody CHECK (
    approval_state = 'pending_review' OR (reviewer IS NOT NULL AND reviewed_at IS NOT NULL)),
  CONSTRAINT rejected_for_a_reason CHECK (
    (approval_state = 'rejected') = (rejection_reason IS NOT NULL)),
  CONSTRAINT withdrawn_waits CHECK (withdrawn_at IS NULL OR approval_state <> 'approved'),
  CONSTRAINT failed_with_an_error CHECK (
    (processing_state = 'failed') = (processing_error IS NOT NULL)),
  CONSTRAINT served_was_made CHECK (served_revision IS NULL OR served_revision <= revision),
  CONSTRAINT exported_has_a_place CHECK (
    export_state <> 'completed' OR external_blob_path IS NOT NULL),
  CONSTRAINT deleted_by_somebody CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
);
-- Versions are resolved in order: the next one cannot even be inserted before. A withdrawn approval
-- must always be possible, so it alone may leave two versions open; the submission looks for it.
CREATE UNIQUE INDEX asset_versions_one_unresolved ON dagapp.asset_versions (asset_id)
  WHERE approval_state <> 'approved' AND withdrawn_at IS NULL AND deleted_at IS NULL;
CREATE INDEX asset_versions_by_review
  ON dagapp.asset_versions (approval_state, updated_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX asset_versions_by_item ON dagapp.asset_versions (stac_collection_id, stac_item_id)
  WHERE stac_item_id IS NOT NULL;

-- Every processing of a version, and what came out of it; a rollback is one more of them.
CREATE TABLE dagapp.asset_revisions (
  asset_id           text NOT NULL,
  version_ordinal    integer NOT NULL,
  revision           integer NOT NULL CHECK (revision > 0),
  request_id         text NOT NULL,
  workflow_id        text NOT NULL,
  job_id             text,
  restored_from      integer,
  processing_state   dagapp.processing_state NOT NULL DEFAULT 'queued',
  processing_error   text,
  content_hash       text,
  blob_path          text,
  table_name         text,
  stac_collection_id text,
  stac_item_id       text,
  created_by         text NOT NULL,
  created_at         timestamptz NOT NULL DEFAULT now(),
  completed_at       timestamptz,
  PRIMARY KEY (asset_id, version_ordinal, revision),
  FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions
);

CREATE TABLE dagapp.requests (
  request_id      text PRIMARY KEY CHECK (request_id ~ '^[A-Za-z0-9_.-]{1,64}$'),
  platform_id     text NOT NULL REFERENCES dagapp.platforms,
  kind            dagapp.request_kind NOT NULL,
  workflow_id     text NOT NULL,
  asset_id        text NOT NULL REFERENCES dagapp.geospatial_assets,
  version_ordinal integer NOT NULL,
  revision        integer NOT NULL,
  inputs          jsonb NOT NULL,
  -- Of what was asked: a key or an id that comes again with something else is a mistake.
  body_hash       text NOT NULL,
  submitted_by    text NOT NULL,
  idempotency_key text,
  callback_url    text,
  priority        smallint NOT NULL DEFAULT 0,
  job_id          text NOT NULL,
  status          dagapp.request_status NOT NULL DEFAULT 'pending',
  result          jsonb,
  error           jsonb,
  submitted_at    timestamptz NOT NULL DEFAULT now(),
  completed_at    timestamptz,
  FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions
    DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT finished_has_a_time CHECK (
    (status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX requests_idempotency ON dagapp.requests (platform_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX requests_by_platform
  ON dagapp.requests (platform_id, submitted_at DESC, request_id DESC);
CREATE INDEX requests_by_version ON dagapp.requests (asset_id, version_ordinal, revision);
CREATE INDEX requests_newest ON dagapp.requests (submitted_at DESC, request_id DESC);

-- What each job is for. A job that nobody in the domain asked for is not here.
CREATE TABLE dagapp.asset_jobs (
  job_id          text PRIMARY KEY,
  asset_id        text NOT NULL,
  version_ordinal integer NOT NULL,
  revision        integer NOT NULL,
  request_id      text NOT NULL,
  purpose         dagapp.job_purpose NOT NULL,
  -- It ended in vain and was started again: only the newest counts.
  superseded      boolean NOT NULL DEFAULT false,
  created_at      timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions
    DEFERRABLE INITIALLY DEFERRED
);
-- Each revision is processed, exported and so on once, whoever asks and how often.
CREATE UNIQUE INDEX asset_jobs_once
  ON dagapp.asset_jobs (asset_id, version_ordinal, revision, purpose) WHERE NOT superseded;

-- Who did what to an asset: written with the change, never changed.
CREATE TABLE dagapp.asset_events (
  event_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  asset_id        text NOT NULL REFERENCES dagapp.geospatial_assets,
  version_ordinal integer,
  event_type      text NOT NULL,
  -- Whom the caller acted for, and whose token it was.
  actor           text NOT NULL,
  via             text NOT NULL,
  event_data      jsonb,
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX asset_events_by_asset ON dagapp.asset_events (asset_id, event_id);

CREATE TABLE dagapp.layer_metadata (
  asset_id       text PRIMARY KEY REFERENCES dagapp.geospatial_assets,
  display_name   text NOT NULL,
  description    text,
  attribution    text,
  keywords       text[] NOT NULL DEFAULT '{}',
  style          jsonb,
  legend         jsonb,
  field_metadata jsonb,
  min_zoom       smallint CHECK (min_zoom BETWEEN 0 AND 30),
  max_zoom       smallint CHECK (max_zoom BETWEEN 0 AND 30),
  thumbnail      text,
  row_version    integer NOT NULL DEFAULT 1,
  updated_by     text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT zooms_in_order CHECK (min_zoom <= max_zoom)
);

-- What clients find: the metadata as it was published, of the version that was the latest then.
CREATE TABLE dagapp.layer_catalog (
  asset_id           text PRIMARY KEY REFERENCES dagapp.geospatial_assets,
  version_ordinal    integer NOT NULL,
  layer_type         text NOT NULL CHECK (layer_type IN ('raster', 'vector')),
  stac_collection_id text,
  stac_item_id       text,
  layer              jsonb NOT NULL,
  published_by       text NOT NULL,
  published_at       timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE dagapp.callback_deliveries (
  event_id        text PRIMARY KEY,
  -- Of a platform's request; or of a job that was submitted without one.
  platform_id     text REFERENCES dagapp.platforms,
  request_id      text REFERENCES dagapp.requests,
  job_id          text,
  event_type      text NOT NULL,
  url             text NOT NULL,
  host            text NOT NULL,
  -- As text: the signature is over these bytes.
  body            text NOT NULL,
  state           dagapp.delivery_state NOT NULL DEFAULT 'pending',
  attempts        integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  -- Somebody is sending it now; after this time somebody else may.
  taken_until     timestamptz,
  delivered_at    timestamptz,
  last_error      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT delivered_has_a_time CHECK ((state = 'delivered') = (delivered_at IS NOT NULL)),
  CONSTRAINT of_a_request_or_a_job CHECK (
    (platform_id IS NULL) = (request_id IS NULL) AND (request_id IS NULL) = (job_id IS NOT NULL))
);
CREATE INDEX callback_deliveries_due
  ON dagapp.callback_deliveries (next_attempt_at) WHERE state = 'pending';
CREATE INDEX callback_deliveries_newest
  ON dagapp.callback_deliveries (created_at DESC, event_id DESC);
CREATE INDEX callback_deliveries_by_request ON dagapp.callback_deliveries (request_id);
CREATE INDEX callback_deliveries_by_job ON dagapp.callback_deliveries (job_id)
  WHERE job_id IS NOT NULL;

CREATE TABLE dagapp.callback_attempts (
  event_id     text NOT NULL REFERENCES dagapp.callback_deliveries,
  attempt      integer NOT NULL,
  status_code  integer,
  error        text,
  duration_ms  integer NOT NULL,
  attempted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, attempt)
);

-- A host that keeps failing is left alone for a while, for all its deliveries.
CREATE TABLE dagapp.callback_hosts (
  host       text PRIMARY KEY,
  failures   integer NOT NULL DEFAULT 0,
  open_until timestamptz
);

-- As in 0001: the transitions of core/model, written into WHEN.
CREATE FUNCTION dagapp.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[1]
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_ARGV[0];
END $$;

CREATE TRIGGER asset_identity BEFORE UPDATE OF asset_id, platform_id, platform_refs
ON dagapp.geospatial_assets
FOR EACH ROW WHEN (OLD.asset_id <> NEW.asset_id OR OLD.platform_id <> NEW.platform_id
  OR OLD.platform_refs <> NEW.platform_refs)
EXECUTE FUNCTION dagapp.refuse_change('asset_identity', 'what an asset is never changes');

CREATE TRIGGER approval_transition BEFORE UPDATE OF approval_state ON dagapp.asset_versions
FOR EACH ROW WHEN (OLD.approval_state <> NEW.approval_state AND NOT CASE OLD.approval_state
  WHEN 'pending_review' THEN NEW.approval_state IN ('approved', 'rejected')
  WHEN 'approved' THEN NEW.approval_state = 'pending_review'
  WHEN 'rejected' THEN NEW.approval_state IN ('approved', 'pending_review')
  ELSE false END)
EXECUTE FUNCTION dagapp.refuse_change('approval_transition', 'this approval may not follow');

CREATE TRIGGER approval_of_something BEFORE UPDATE OF approval_state ON dagapp.asset_versions
FOR EACH ROW WHEN (NEW.approval_state = 'approved' AND OLD.approval_state <> 'approved'
  AND NEW.processing_state <> 'completed')
EXECUTE FUNCTION dagapp.refuse_change(
  'approval_of_something', 'only a version that was processed can be approved');

CREATE TRIGGER processing_transition BEFORE UPDATE OF processing_state ON dagapp.asset_versions
FOR EACH ROW WHEN (OLD.processing_state <> NEW.processing_state AND NOT CASE OLD.processing_state
  WHEN 'queued' THEN NEW.processing_state IN ('processing', 'completed', 'failed')
  WHEN 'processing' THEN NEW.processing_state IN ('completed', 'failed')
  WHEN 'completed' THEN NEW.processing_state = 'queued'
  WHEN 'failed' THEN NEW.processing_state IN ('queued', 'completed')
  ELSE false END)
EXECUTE FUNCTION dagapp.refuse_change('processing_transition', 'this processing may not follow');

CREATE TRIGGER version_stays_deleted BEFORE UPDATE ON dagapp.asset_versions
FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL)
EXECUTE FUNCTION dagapp.refuse_change('version_stays_deleted', 'a deleted version stays deleted');

CREATE TRIGGER asset_events_stay BEFORE UPDATE OR DELETE ON dagapp.asset_events
FOR EACH ROW EXECUTE FUNCTION dagapp.refuse_change('asset_events_stay', 'history never changes');

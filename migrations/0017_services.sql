-- What is published in a second database, and other services that the platform knows.
-- Programs from 14 on can live with this schema.

-- An asset whose layer and items stand in the external database. The row is written before they are,
-- and removed after they are, so what stands there is always known here.
CREATE TABLE dagapp.external_publications (
  asset_id        text PRIMARY KEY REFERENCES dagapp.geospatial_assets,
  version_ordinal integer NOT NULL CHECK (version_ordinal >= 0),
  revision        integer NOT NULL CHECK (revision >= 1),
  published_by    text NOT NULL,
  published_at    timestamptz NOT NULL DEFAULT now()
);

-- Services of others that the platform refers to: maps and features that are shown as layers without
-- being stored here, and systems that it calls.
CREATE TABLE dagapp.dag_external_services (
  service_id   text PRIMARY KEY CHECK (service_id ~ '^[a-z][a-z0-9_-]{0,62}$'),
  name         text NOT NULL,
  kind         text NOT NULL CHECK (kind IN
    ('xyz', 'wms', 'wmts', 'ogc_features', 'ogc_tiles', 'stac', 'arcgis', 'webhook', 'data_factory', 'other')),
  url          text NOT NULL,
  -- What is asked for its health; by default its address.
  health_url   text,
  attribution  text,
  is_active    boolean NOT NULL DEFAULT true,
  -- As the last check found it.
  health       text NOT NULL DEFAULT 'unknown' CHECK (health IN ('unknown', 'ok', 'failing')),
  health_error text,
  latency_ms   integer,
  failures     integer NOT NULL DEFAULT 0,
  checked_at   timestamptz,
  updated_by   text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT failing_says_why CHECK ((health = 'failing') = (health_error IS NOT NULL))
);
CREATE INDEX dag_external_services_due
  ON dagapp.dag_external_services (checked_at NULLS FIRST) WHERE is_active;

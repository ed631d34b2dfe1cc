-- Vector layers as tables of the schema geo: one table a layer and geometry type, made and filled by
-- workers. A layer is loaded into a table of its own and takes its name only when it is complete, so
-- that whoever reads sees the old layer or the new one, never half of one.

CREATE SCHEMA IF NOT EXISTS geo;

-- Used where it can be had, and never required: a role that may not create extensions, or a server
-- without it, goes on with WKB and a box.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgis') THEN
    CREATE EXTENSION IF NOT EXISTS postgis;
  END IF;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'PostGIS is not used: %', SQLERRM;
END $$;

-- `postgis`: a geometry column. `wkb`: bytea, with a box beside it for the index.
CREATE TYPE dagapp.geometry_form AS ENUM ('postgis', 'wkb');

-- What is published: the tables that may be served.
CREATE TABLE dagapp.geo_tables (
  table_name    text PRIMARY KEY CHECK (table_name ~ '^[a-z_][a-z0-9_]{0,62}$'),
  -- The load that it came from; with it changes all that is served.
  load_id       text NOT NULL,
  form          dagapp.geometry_form NOT NULL,
  geometry_type text NOT NULL CHECK (geometry_type IN ('MultiPoint', 'MultiLineString', 'MultiPolygon')),
  -- [{name, type, source}] without the platform's own columns.
  columns       jsonb NOT NULL,
  feature_count bigint NOT NULL CHECK (feature_count >= 0),
  -- West, south, east, north.
  bounds        double precision[] CHECK (cardinality(bounds) = 4),
  job_id        text,
  published_at  timestamptz NOT NULL DEFAULT now()
);

-- What is being loaded: one row for each table that the load will publish.
CREATE TABLE dagapp.geo_loads (
  load_id       text NOT NULL,
  table_name    text NOT NULL CHECK (table_name ~ '^[a-z_][a-z0-9_]{0,62}$'),
  -- Where the rows are meanwhile.
  loading_table text NOT NULL UNIQUE,
  form          dagapp.geometry_form NOT NULL,
  geometry_type text NOT NULL,
  columns       jsonb NOT NULL,
  feature_count bigint NOT NULL,
  bounds        double precision[],
  chunk_count   integer NOT NULL CHECK (chunk_count > 0),
  job_id        text,
  started_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (load_id, table_name)
);
CREATE INDEX geo_loads_by_table ON dagapp.geo_loads (table_name);

-- Chunks that are in, written with their rows: a chunk that comes again knows what to replace, and
-- nothing is published of which a chunk is missing.
CREATE TABLE dagapp.geo_load_chunks (
  load_id     text NOT NULL,
  table_name  text NOT NULL,
  chunk_index integer NOT NULL CHECK (chunk_index >= 0),
  row_count   bigint NOT NULL CHECK (row_count >= 0),
  loaded_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (load_id, table_name, chunk_index),
  FOREIGN KEY (load_id, table_name) REFERENCES dagapp.geo_loads ON DELETE CASCADE
);

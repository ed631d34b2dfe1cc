-- Programs from 18 on can live with this schema.
-- Counts, lengths and areas of features by H3 cell: what is asked for. Their computations stand beside
-- those of rasters; a name belongs to one kind.

CREATE TABLE dagapp.h3_vector_sources (
  layer         text PRIMARY KEY CHECK (layer ~ '^[a-z0-9][a-z0-9_-]*$' AND length(layer) <= 120),
  -- {table_name} or {blob_path}, a GeoParquet file.
  source        jsonb NOT NULL CHECK (jsonb_typeof(source) = 'object'),
  configuration jsonb NOT NULL CHECK (jsonb_typeof(configuration) = 'object'),
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE dagapp.h3_computation_runs
  ADD COLUMN kind text NOT NULL DEFAULT 'raster' CHECK (kind IN ('raster', 'vector', 'combined'));

-- Programs from 14 on can live with this schema.
-- Statistics of rasters by H3 cell: what is asked for, what was computed, and the files it made. The
-- values themselves are Parquet files in storage.

CREATE TABLE dagapp.h3_raster_sources (
  raster        text PRIMARY KEY CHECK (raster ~ '^[a-z0-9][a-z0-9_-]*$' AND length(raster) <= 120),
  -- {blob_path}, {collection_id, item_id} or {collection_id}.
  source        jsonb NOT NULL CHECK (jsonb_typeof(source) = 'object'),
  configuration jsonb NOT NULL CHECK (jsonb_typeof(configuration) = 'object'),
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now()
);

-- One computation: a raster of one period in one state, with a configuration that never changes. Its id
-- is a hash of these, so the same computation is the same row however often it runs.
CREATE TABLE dagapp.h3_computation_runs (
  run_id        text PRIMARY KEY CHECK (run_id ~ '^[0-9a-f]{32}$'),
  raster        text NOT NULL,
  period        text NOT NULL,
  -- Where the raster came from, and the state of that file.
  origin        text NOT NULL,
  source_tag    text NOT NULL,
  -- The GeoTIFF that is read.
  source_path   text NOT NULL,
  wkt2          text NOT NULL,
  bbox          double precision[] NOT NULL CHECK (array_length(bbox, 1) = 4),
  configuration jsonb NOT NULL,
  findings      jsonb NOT NULL DEFAULT '[]',
  chunk_count   integer NOT NULL CHECK (chunk_count >= 0),
  job_id        text NOT NULL,
  status        text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed')),
  row_count     bigint CHECK (row_count >= 0),
  collection_id text,
  item_id       text,
  started_at    timestamptz NOT NULL DEFAULT now(),
  finished_at   timestamptz,
  CONSTRAINT finished_when_completed CHECK ((status = 'completed') = (finished_at IS NOT NULL))
);
CREATE INDEX h3_computation_runs_by_raster
  ON dagapp.h3_computation_runs (raster, period, started_at DESC);
CREATE INDEX h3_computation_runs_by_start ON dagapp.h3_computation_runs (started_at DESC, run_id);

CREATE TABLE dagapp.h3_output_manifest (
  path       text PRIMARY KEY,
  run_id     text NOT NULL REFERENCES dagapp.h3_computation_runs,
  resolution smallint NOT NULL CHECK (resolution BETWEEN 0 AND 15),
  -- Null: the compacted file of all chunks.
  h3_l3      text CHECK (h3_l3 ~ '^[0-9a-f]{15}$'),
  row_count  bigint NOT NULL CHECK (row_count >= 0),
  -- A chunk without rows has no file.
  bytes      bigint NOT NULL CHECK (bytes >= 0),
  sha256     text NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT bytes_of_rows CHECK ((row_count = 0) = (bytes = 0))
);
CREATE INDEX h3_output_manifest_by_run ON dagapp.h3_output_manifest (run_id, resolution, h3_l3);

-- Statistics read rasters and layers of all platforms: their workflows are for operators, as
-- core/domain/preflight.ts says too.
CREATE OR REPLACE VIEW gateway.workflows AS
  SELECT w.workflow_id, v.version, v.definition ->> 'name' AS name,
    v.definition ->> 'description' AS description, v.definition -> 'inputs' AS inputs,
    v.definition -> 'outputs' AS outputs, w.updated_at,
    NOT v.definition ? 'stages'
      AND NOT jsonb_path_exists(v.definition, '$.nodes.*.**{0 to 1}.handler
        ? (@ starts with "export." || @ starts with "stac." || @ starts with "h3_"
          || @ == "stats_zonal" || @ == "stac_catalog_container"
          || @ == "register_silver_blobs" || @ == "trigger_approval" || @ == "approve_dataset"
          || @ == "reject_dataset" || @ == "job_health_check" || @ == "task_watchdog"
          || @ == "list_container_files" || @ == "process_file" || @ == "update_catalog")')
      AS for_partners
  FROM dagapp.dag_workflows w JOIN dagapp.dag_workflow_versions v USING (workflow_hash)
  WHERE w.is_active;

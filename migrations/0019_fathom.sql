-- Programs from 18 on can live with this schema.
-- Flood maps of FATHOM: what each raster is made of, and what it was made of last. A raster whose inputs
-- are those that it was made of, and whose file has the recorded hash, is not made again.

CREATE TABLE dagapp.fathom_rasters (
  dataset     text NOT NULL CHECK (dataset ~ '^[a-z0-9][a-z0-9_-]*$' AND length(dataset) <= 100),
  -- stack: the return periods of one tile as bands. merge: the stacks of one grid cell as one raster.
  phase       text NOT NULL CHECK (phase IN ('stack', 'merge')),
  -- Such as fluvial-defended-cm-2050-ssp2_4.5.
  product     text NOT NULL CHECK (product ~ '^[a-z0-9][a-z0-9_.-]*$' AND length(product) <= 200),
  -- The name of the tile or of the grid cell, such as n05w010.
  place       text NOT NULL CHECK (place ~ '^[ns]\d{2}[ew]\d{3}$'),
  -- Flood type, defence, year, scenario and depth unit, as far as the names of the files tell.
  attributes  jsonb NOT NULL CHECK (jsonb_typeof(attributes) = 'object'),
  return_periods integer[] NOT NULL CHECK (cardinality(return_periods) > 0),
  -- [{path, tag}]: of a stack by return period, of a merge by tile.
  inputs      jsonb NOT NULL CHECK (jsonb_typeof(inputs) = 'array'),
  input_hash  text NOT NULL CHECK (input_hash ~ '^[0-9a-f]{64}$'),
  grid_degrees integer NOT NULL CHECK (grid_degrees BETWEEN 1 AND 90),
  -- The input_hash of the file at `path`; null: it was never made.
  made_of     text,
  path        text,
  bytes       bigint CHECK (bytes > 0),
  etag        text,
  checksum    text CHECK (checksum ~ '^1220[0-9a-f]{64}$'),
  facts       jsonb,
  made_at     timestamptz,
  -- The checksum that its item in the catalogue states; null: it has none.
  registered  text,
  job_id      text NOT NULL,
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (dataset, phase, product, place),
  CONSTRAINT whole_when_made CHECK ((made_of IS NULL) = (checksum IS NULL)
    AND (made_of IS NULL) = (path IS NULL) AND (made_of IS NULL) = (bytes IS NULL)
    AND (made_of IS NULL) = (facts IS NULL) AND (made_of IS NULL) = (made_at IS NULL))
);

-- They read and write files of all platforms: their workflow is for operators, as
-- core/domain/preflight.ts says too.
CREATE OR REPLACE VIEW gateway.workflows AS
  SELECT w.workflow_id, v.version, v.definition ->> 'name' AS name,
    v.definition ->> 'description' AS description, v.definition -> 'inputs' AS inputs,
    v.definition -> 'outputs' AS outputs, w.updated_at,
    NOT v.definition ? 'stages'
      AND NOT jsonb_path_exists(v.definition, '$.nodes.*.**{0 to 1}.handler
        ? (@ starts with "export." || @ starts with "stac." || @ starts with "h3_"
          || @ starts with "fathom_"
          || @ == "stats_zonal" || @ == "stac_catalog_container"
          || @ == "register_silver_blobs" || @ == "trigger_approval" || @ == "approve_dataset"
          || @ == "reject_dataset" || @ == "job_health_check" || @ == "task_watchdog"
          || @ == "list_container_files" || @ == "process_file" || @ == "update_catalog")')
      AS for_partners
  FROM dagapp.dag_workflows w JOIN dagapp.dag_workflow_versions v USING (workflow_hash)
  WHERE w.is_active;

-- Programs from 18 on can live with this schema.
-- Data sets that are made of others by H3 cell: what is asked for. Their computations stand beside those of
-- rasters and features, of the kind "combined"; a name belongs to one kind.

CREATE TABLE dagapp.h3_combined_sources (
  combination   text PRIMARY KEY
    CHECK (combination ~ '^[a-z0-9][a-z0-9_-]*$' AND length(combination) <= 120),
  -- {datasets}: the names that formulas use, and the data set that each stands for.
  source        jsonb NOT NULL CHECK (jsonb_typeof(source) = 'object'),
  configuration jsonb NOT NULL CHECK (jsonb_typeof(configuration) = 'object'),
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now()
);

-- Statistics of a raster by H3 cell read the files of the platform that asks for them, so partners may submit
-- that workflow, as core/domain/preflight.ts says too. The other handlers of H3 read what others have made.
CREATE OR REPLACE VIEW gateway.workflows AS
  SELECT w.workflow_id, v.version, v.definition ->> 'name' AS name,
    v.definition ->> 'description' AS description, v.definition -> 'inputs' AS inputs,
    v.definition -> 'outputs' AS outputs, w.updated_at,
    NOT v.definition ? 'stages'
      AND NOT jsonb_path_exists(v.definition, '$.nodes.*.**{0 to 1}.handler
        ? (@ starts with "export." || @ starts with "stac." || @ starts with "fathom_"
          || (@ starts with "h3_" && @ != "h3_discover_raster" && @ != "h3_zonal_stats"
            && @ != "h3_finalize" && @ != "h3_register_dataset")
          || @ == "stats_zonal" || @ == "stac_catalog_container"
          || @ == "register_silver_blobs" || @ == "trigger_approval" || @ == "approve_dataset"
          || @ == "reject_dataset" || @ == "job_health_check" || @ == "task_watchdog"
          || @ == "list_container_files" || @ == "process_file" || @ == "update_catalog")')
      AS for_partners
  FROM dagapp.dag_workflows w JOIN dagapp.dag_workflow_versions v USING (workflow_hash)
  WHERE w.is_active;

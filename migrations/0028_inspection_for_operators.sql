-- Programs from 18 on can live with this schema.
-- The inspection of a file makes no data, so partners do not submit it; core/domain/preflight.ts says so too.

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
          || @ == "inspect_file" || @ == "list_container_files" || @ == "process_file"
          || @ == "update_catalog")')
      AS for_partners
  FROM dagapp.dag_workflows w JOIN dagapp.dag_workflow_versions v USING (workflow_hash)
  WHERE w.is_active;

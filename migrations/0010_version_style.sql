-- The style that a curator gives to a version before its approval. The approval moves it to
-- layer_metadata, so a served layer never shows the style of a version that is not approved.
ALTER TABLE dagapp.asset_versions ADD COLUMN style jsonb;

-- Finds the jobs that run another job again.
CREATE INDEX dag_jobs_rerun_of ON dagapp.dag_jobs (rerun_of) WHERE rerun_of IS NOT NULL;

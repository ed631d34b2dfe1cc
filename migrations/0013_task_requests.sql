-- What a task asks of an orchestrator, which alone changes assets and versions. The worker writes the
-- request and waits for its answer; a task that is delivered again finds the answer of the first time.
CREATE TABLE dagapp.dag_task_requests (
  task_id     text PRIMARY KEY,
  job_id      text NOT NULL,
  action      text NOT NULL CHECK (action IN ('trigger_approval', 'approve', 'reject')),
  params      jsonb NOT NULL,
  asked_at    timestamptz NOT NULL DEFAULT now(),
  -- {"ok": true, "result": {…}} or {"ok": false, "code": …, "message": …, "retry": …}
  answer      jsonb,
  answered_at timestamptz,
  CONSTRAINT answered_at_a_time CHECK ((answer IS NULL) = (answered_at IS NULL))
);
CREATE INDEX dag_task_requests_open ON dagapp.dag_task_requests (asked_at) WHERE answer IS NULL;
CREATE INDEX dag_task_requests_old ON dagapp.dag_task_requests (answered_at)
  WHERE answered_at IS NOT NULL;

-- Handlers that review versions, read whole containers or watch all jobs are for operators, as are jobs
-- of stages; core/domain/preflight.ts has the same rule.
CREATE OR REPLACE VIEW gateway.workflows AS
  SELECT w.workflow_id, v.version, v.definition ->> 'name' AS name,
    v.definition ->> 'description' AS description, v.definition -> 'inputs' AS inputs,
    v.definition -> 'outputs' AS outputs, w.updated_at,
    NOT v.definition ? 'stages'
      AND NOT jsonb_path_exists(v.definition, '$.nodes.*.**{0 to 1}.handler
        ? (@ starts with "export." || @ starts with "stac." || @ == "stac_catalog_container"
          || @ == "register_silver_blobs" || @ == "trigger_approval" || @ == "approve_dataset"
          || @ == "reject_dataset" || @ == "job_health_check" || @ == "task_watchdog"
          || @ == "list_container_files" || @ == "process_file" || @ == "update_catalog")')
      AS for_partners
  FROM dagapp.dag_workflows w JOIN dagapp.dag_workflow_versions v USING (workflow_hash)
  WHERE w.is_active;

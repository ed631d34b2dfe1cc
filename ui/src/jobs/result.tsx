import type { Job } from "../../../src/core/api/job-schemas.ts";
import { JsonView } from "../shared/json-view.tsx";

export function JobResult({ job }: { job: Job }) {
  return (
    <div className="grid-2 card-body">
      <div className="stack">
        <h3>Inputs</h3>
        <JsonView value={job.input_params} label="inputs" />
        <h3>Metadata</h3>
        <JsonView value={job.metadata} label="metadata" />
      </div>
      <div className="stack">
        <h3>Result</h3>
        {job.result_data === null ? (
          <p className="dim">A job has a result when it completes.</p>
        ) : (
          <JsonView value={job.result_data} label="result" />
        )}
      </div>
    </div>
  );
}

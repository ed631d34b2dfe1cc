import { h3Workflows } from "../../../src/core/h3/configuration.ts";
import { api } from "../shared/api.ts";
import { Action } from "../shared/action.tsx";
import { commands } from "../shared/commands.ts";
import { navigate } from "../shared/navigation.ts";
import type { Source } from "./datasets.ts";

/** Starts a computation by the name of the data set; all else is recorded. */
export function Compute({ source: { kind, raster } }: { source: Source }) {
  const { workflow, name } = h3Workflows[kind];
  const inputs = { [name]: raster };
  return (
    <Action
      icon="play"
      label="Compute"
      title={`Compute ${raster}`}
      copy={() => ({
        command: commands.submitJob(workflow, inputs),
        request: JSON.stringify({ workflow_id: workflow, inputs }),
      })}
      run={async () => {
        const { job_id } = await api.submitJob({ body: { workflow_id: workflow, inputs } });
        navigate(`/jobs/${job_id}`);
        return `Job ${job_id} computes ${raster}.`;
      }}
    >
      <p>A job computes what has changed. Chunks whose files are there are not computed again.</p>
    </Action>
  );
}

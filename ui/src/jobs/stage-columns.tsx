import { useQuery } from "@tanstack/react-query";
import type { Job } from "../../../src/core/api/job-schemas.ts";
import { childNodeId } from "../../../src/core/model/node.ts";
import type { StageJob } from "../../../src/core/model/stage-job.ts";
import { api } from "../shared/api.ts";
import { number } from "../shared/format.ts";
import { Await } from "../shared/states.tsx";
import { Chip } from "../shared/status.tsx";

type Stage = StageJob["stages"][number];

/** A column lists this many tasks; the table of nodes has them all. */
const mostTasks = 50;

const looks = {
  queued: "pending",
  processing: "running",
  completed: "completed",
  failed: "failed",
} as const;

/** A job of stages as the older platform shows it: one column a stage, its tasks below each other. */
export function StageColumns({
  job,
  stages,
  onChoose,
}: {
  job: Job;
  stages: readonly Stage[];
  onChoose: (nodeId: string) => void;
}) {
  const state = useQuery({
    queryKey: ["stages", job.job_id, job.status],
    queryFn: ({ signal }) => api.getStageJob({ params: { job_id: job.job_id }, signal }),
    refetchInterval: job.completed_at === null ? 2000 : false,
  });
  return (
    <Await query={state} what="the stages">
      {({ stages: states }) => (
        <ol className="stage-columns" aria-label="Stages">
          {stages.map((stage, index) => {
            const now = states[index];
            return (
              <li key={stage.number} className="stage-column">
                <h3>
                  {stage.number}. {stage.name}
                </h3>
                <Chip status={looks[now?.status ?? "queued"]} />
                <p className="muted">
                  {stage.task_type}, {stage.parallelism.replaceAll("_", " ")}
                </p>
                {now?.task_count == null ? (
                  <p className="muted">not begun</p>
                ) : (
                  <>
                    <p>
                      {number(now.completed_tasks)} of {number(now.task_count)} tasks
                      {now.failed_tasks > 0 ? `, ${number(now.failed_tasks)} failed` : ""}
                    </p>
                    <StageTasks job={job} stage={stage} onChoose={onChoose} />
                  </>
                )}
              </li>
            );
          })}
        </ol>
      )}
    </Await>
  );
}

function StageTasks({
  job,
  stage,
  onChoose,
}: {
  job: Job;
  stage: Stage;
  onChoose: (nodeId: string) => void;
}) {
  const tasks = useQuery({
    queryKey: ["stages", job.job_id, job.status, stage.number],
    queryFn: ({ signal }) =>
      api.listStageTasks({
        params: { job_id: job.job_id },
        query: { stage: String(stage.number), limit: mostTasks },
        signal,
      }),
    refetchInterval: job.completed_at === null ? 2000 : false,
  });
  return (
    <Await query={tasks} what="the tasks">
      {({ items, next_cursor }) => (
        <ul>
          {items.map((task, index) => (
            <li key={task.task_id}>
              <button
                type="button"
                className="link"
                onClick={() => {
                  onChoose(childNodeId(stage.tasks_node, index));
                }}
              >
                {task.task_id}
              </button>
              <Chip status={looks[task.status]} />
            </li>
          ))}
          {next_cursor === null ? null : <li className="muted">and more</li>}
        </ul>
      )}
    </Await>
  );
}

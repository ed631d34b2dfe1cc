import type { CurrentTask, Job } from "../../../src/core/api/job-schemas.ts";
import { api } from "../shared/api.ts";
import { between, duration, number, short } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Badge } from "../shared/chip.tsx";
import { CopyId } from "../shared/copy.tsx";
import { StateBar } from "../shared/histogram.tsx";
import { Elapsed, Time } from "../shared/time.tsx";
import { Link } from "../shared/navigation.tsx";
import { countNodes } from "./count-nodes.ts";

export function JobHead({ job, tasks }: { job: Job; tasks: ReadonlyMap<string, CurrentTask> }) {
  const counts = countNodes(job);
  const settled = counts.completed + counts.failed + counts.skipped + counts.cancelled;
  const share = counts.total === 0 ? 0 : settled / counts.total;
  const waited = between(job.created_at, job.started_at);
  return (
    <section className="card job-head" aria-label="The job at a glance">
      <div className="job-progress">
        <StateBar counts={counts} />
        <span className="num" data-testid="progress">
          <strong>{Math.floor(share * 100)} %</strong> · {number(settled)} of {number(counts.total)}{" "}
          nodes
          {counts.failed > 0 ? ` · ${number(counts.failed)} failed` : ""}
          {counts.running > 0 ? ` · ${number(counts.running)} running` : ""}
          <Left job={job} share={share} />
        </span>
      </div>
      <dl className="job-facts">
        <Fact name="Submitted">
          <Time at={job.created_at} />
        </Fact>
        <Fact name="Waited">{job.started_at === null ? "–" : duration(waited)}</Fact>
        <Fact name="Took">
          <Elapsed from={job.started_at} to={job.completed_at} />
        </Fact>
        <Fact name="Version">
          <code>{job.workflow_version}</code> <Drift job={job} />
        </Fact>
        <Fact name="Owner">
          <Owner job={job} />
        </Fact>
        <Fact name="By">{job.submitted_by ?? "–"}</Fact>
        {job.correlation_id === null ? null : (
          <Fact name="Request">
            <CopyId id={job.correlation_id} text={short(job.correlation_id)} what="Request id" />
          </Fact>
        )}
        {job.rerun_of === null ? null : (
          <Fact name="Runs again">
            <Link to={`/jobs/${encodeURIComponent(job.rerun_of)}`}>
              <code>{short(job.rerun_of)}</code>
            </Link>
          </Fact>
        )}
        <Fact name="Priority">{job.priority}</Fact>
        {tasks.size === 0 ? null : (
          <Fact name="On workers">{tasks.size >= 100 ? "100 or more" : tasks.size}</Fact>
        )}
      </dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What is left if the rest goes like the part that is done; said only when that can be told. */
function Left({ job, share }: { job: Job; share: number }) {
  if (job.status !== "running" || job.started_at === null || share < 0.1 || share >= 1) return null;
  const passed = between(job.started_at, null);
  if (passed < 3000) return null;
  return <> · about {duration((passed / share) * (1 - share))} left</>;
}

function Drift({ job }: { job: Job }) {
  const workflow = useQuery(`workflow ${job.workflow_id}`, (signal) =>
    api.getWorkflow({ params: { workflow_id: job.workflow_id }, signal }),
  );
  if (workflow.data === undefined || workflow.data.workflow_hash === job.workflow_hash) return null;
  return (
    <Link
      to={`/workflows/${encodeURIComponent(job.workflow_id)}?tab=definition&from=${job.workflow_hash}`}
    >
      <Badge title="New jobs use a newer version of this workflow">newer version exists</Badge>
    </Link>
  );
}

function Owner({ job }: { job: Job }) {
  const active = job.completed_at === null && job.owner_id !== null;
  const all = useQuery(
    active ? "orchestrators" : "no orchestrators",
    async (signal) => (active ? (await api.listOrchestrators({ signal })).items : []),
    { everyMs: active ? 10_000 : undefined },
  );
  if (job.owner_id === null) return <span className="dim">none</span>;
  const owner = all.data?.find(({ owner_id }) => owner_id === job.owner_id);
  return (
    <>
      <code>{job.owner_id}</code>{" "}
      {owner === undefined ? null : (
        <span className={owner.alive ? "dim" : "error-text"}>
          {owner.alive ? "alive, " : "silent, "}
          <Time at={owner.heartbeat_at} relative />
        </span>
      )}
    </>
  );
}

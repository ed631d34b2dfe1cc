import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { Link } from "wouter";
import type { Job } from "../../../src/core/api/job-schemas.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { StageJob } from "../../../src/core/model/stage-job.ts";
import { LazyFlow } from "../graph/lazy-flow.tsx";
import { CopyId } from "../shared/copy.tsx";
import { short } from "../shared/format.ts";
import { JsonView } from "../shared/json-view.tsx";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import type { PageProps } from "../shared/page.tsx";
import { Page } from "../shared/page.tsx";
import { workflowVersionQuery } from "../shared/queries.ts";
import { Await, Failed, Loading } from "../shared/states.tsx";
import { Chip } from "../shared/status.tsx";
import { TabPanel, Tabs } from "../shared/tabs.tsx";
import type { LiveJob } from "./apply-message.ts";
import { Gantt } from "./gantt/gantt.tsx";
import { JobActions } from "./job-actions.tsx";
import { JobEvents } from "./job-events.tsx";
import { JobHead, WhyEnded } from "./job-head.tsx";
import { NodePanel } from "./node/node-panel.tsx";
import { NodeTable } from "./node/node-table.tsx";
import { StageColumns } from "./stage-columns.tsx";
import { useJob } from "./use-job.ts";

const views = ["graph", "stages", "gantt", "table", "events", "result"] as const;
type View = (typeof views)[number];

const labels: Readonly<Record<View, string>> = {
  graph: "Graph",
  stages: "Stages",
  gantt: "Gantt",
  table: "Table",
  events: "Events",
  result: "Inputs and result",
};

export default function JobPage({ params }: PageProps) {
  const { live, state, error, reload } = useJob(params["jobId"] ?? "");
  if (live === undefined) {
    if (error !== undefined) return <Failed error={error} retry={reload} />;
    return <Loading what="the job" />;
  }
  const { job } = live;
  return (
    <Page
      title={`${job.workflow_id} ${short(job.job_id)}`}
      heading={
        <>
          <Link to={`/workflows/${encodeURIComponent(job.workflow_id)}`}>{job.workflow_id}</Link>
          <CopyId id={job.job_id} text={short(job.job_id)} what="Job id" />
          <Chip status={job.status} />
          {job.paused && job.completed_at === null ? <Chip status="paused" /> : null}
          <span className="live" data-state={state} role="status">
            {state}
          </span>
        </>
      }
      actions={<JobActions job={job} reload={reload} />}
    >
      <JobBody live={live} />
    </Page>
  );
}

/** The stages of a workflow that was declared as a job of stages. */
function stagesOf(definition: JsonObject | undefined): StageJob["stages"] | undefined {
  return (definition?.["stages"] as unknown as StageJob | undefined)?.stages;
}

/** The address has the chosen view and the node whose panel is open. */
function JobBody({ live }: { live: LiveJob }) {
  const { job, tasks } = live;
  const query = useSearchParams();
  const chosen = query.get("node") ?? undefined;
  const version = useQuery(workflowVersionQuery(job.workflow_id, job.workflow_hash));
  const stages = stagesOf(version.data?.definition);
  const shown = views.filter((each) => each !== "stages" || stages !== undefined);
  // A job of stages opens as one.
  const first = stages === undefined ? "graph" : "stages";
  const view = shown.find((each) => each === query.get("view")) ?? first;
  const choose = useCallback((nodeId: string) => {
    setSearchParams({ node: nodeId });
  }, []);
  const close = useCallback(() => {
    setSearchParams({ node: undefined });
  }, []);
  useEscape(chosen === undefined ? undefined : close);
  return (
    <>
      <JobHead job={job} tasks={tasks} edges={version.data?.graph.edges} />
      <WhyEnded job={job} onOpen={choose} />
      <div className="job-body" data-panel={chosen === undefined ? undefined : ""}>
        <div className="card">
          <Tabs
            label="Views of the job"
            panel="job-view"
            tabs={shown.map((id) => ({ id, label: labels[id] }))}
            selected={view}
            onSelect={(id) => {
              setSearchParams({ view: id === first ? undefined : id });
            }}
          />
          <TabPanel id="job-view" selected={view}>
            {view === "graph" ? (
              <Await query={version} what="the graph">
                {({ graph }) => (
                  <LazyFlow graph={graph} nodes={job.nodes} chosen={chosen} onChoose={choose} />
                )}
              </Await>
            ) : null}
            {view === "stages" && stages !== undefined ? (
              <StageColumns job={job} stages={stages} onChoose={choose} />
            ) : null}
            {view === "gantt" ? (
              <Gantt
                job={job}
                edges={version.data?.graph.edges}
                chosen={chosen}
                onChoose={choose}
              />
            ) : null}
            {view === "table" ? (
              <NodeTable nodes={job.nodes} tasks={tasks} chosen={chosen} onChoose={choose} />
            ) : null}
            {view === "events" ? <JobEvents job={job} nodeId={chosen} onChoose={choose} /> : null}
            {view === "result" ? <JobResult job={job} /> : null}
          </TabPanel>
        </div>
        {chosen === undefined ? null : (
          <NodePanel
            key={chosen}
            job={job}
            nodeId={chosen}
            definition={version.data?.definition}
            edges={version.data?.graph.edges}
            task={tasks.get(chosen)}
            onChoose={choose}
            onClose={close}
          />
        )}
      </div>
    </>
  );
}

function useEscape(close: (() => void) | undefined): void {
  useEffect(() => {
    if (close === undefined) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape" && document.querySelector("dialog[open]") === null) close();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => {
      window.removeEventListener("keydown", onKeyDown);
    };
  }, [close]);
}

function JobResult({ job }: { job: Job }) {
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

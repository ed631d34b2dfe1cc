import { useCallback, useEffect, useMemo } from "react";
import { api } from "../shared/api.ts";
import { LazyFlow } from "../graph/lazy-flow.tsx";
import { JobActions } from "./job-actions.tsx";
import { Events } from "./job-events.tsx";
import { FirstFailure } from "./failure.tsx";
import { Gantt } from "./gantt/gantt.tsx";
import { JobHead } from "./job-head.tsx";
import { JobResult } from "./result.tsx";
import { NodePanel } from "./node/node-panel.tsx";
import { NodeTable } from "./node/node-table.tsx";
import { short } from "../shared/format.ts";
import { useJob } from "./use-job.ts";
import { useQuery } from "../shared/query-client.ts";
import { Chip } from "../shared/chip.tsx";
import { CopyId } from "../shared/copy.tsx";
import { Page } from "../shared/page.tsx";
import { Await, Failed, Loading } from "../shared/states.tsx";
import { TabPanel, Tabs } from "../shared/tabs.tsx";
import { Link, setQuery, usePlace } from "../shared/navigation.tsx";

const views = ["graph", "gantt", "table", "events", "result"] as const;
type View = (typeof views)[number];

const labels: Readonly<Record<View, string>> = {
  graph: "Graph",
  gantt: "Gantt",
  table: "Table",
  events: "Events",
  result: "Inputs and result",
};

export default function JobPage({ params }: { params: Readonly<Record<string, string>> }) {
  const jobId = params["jobId"] ?? "";
  const { live, state, error, reload } = useJob(jobId);
  const { query } = usePlace();
  const asked = query.get("view");
  const view = views.find((each) => each === asked) ?? "graph";
  const chosen = query.get("node") ?? undefined;

  const workflowId = live?.job.workflow_id;
  const hash = live?.job.workflow_hash;
  const version = useQuery(`version ${workflowId ?? ""} ${hash ?? ""}`, async (signal) => ({
    detail:
      workflowId === undefined || hash === undefined
        ? undefined
        : await api.getWorkflowVersion({
            params: { workflow_id: workflowId, workflow_hash: hash },
            signal,
          }),
  }));
  const detail = version.data?.detail;
  const choose = useCallback((nodeId: string) => {
    setQuery({ node: nodeId });
  }, []);
  const close = useCallback(() => {
    setQuery({ node: undefined });
  }, []);
  useEscape(chosen === undefined ? undefined : close);
  const nodes = useMemo(() => live?.job.nodes ?? [], [live]);

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
      <JobHead job={job} tasks={live.tasks} />
      <FirstFailure job={job} onOpen={choose} />
      <div className="job-body" data-panel={chosen === undefined ? undefined : ""}>
        <div className="card">
          <Tabs
            label="Views of the job"
            panel="job-view"
            tabs={views.map((id) => ({ id, label: labels[id] }))}
            selected={view}
            onSelect={(id) => {
              setQuery({ view: id === "graph" ? undefined : id });
            }}
          />
          <TabPanel id="job-view" selected={view}>
            {view === "graph" ? (
              <Await loaded={version} what="the graph">
                {({ detail: found }) =>
                  found === undefined ? (
                    <Loading what="the graph" />
                  ) : (
                    <LazyFlow graph={found.graph} nodes={nodes} chosen={chosen} onChoose={choose} />
                  )
                }
              </Await>
            ) : null}
            {view === "gantt" ? (
              <Gantt job={job} edges={detail?.graph.edges} chosen={chosen} onChoose={choose} />
            ) : null}
            {view === "table" ? (
              <NodeTable nodes={nodes} tasks={live.tasks} chosen={chosen} onChoose={choose} />
            ) : null}
            {view === "events" ? <Events job={job} nodeId={chosen} onChoose={choose} /> : null}
            {view === "result" ? <JobResult job={job} /> : null}
          </TabPanel>
        </div>
        {chosen === undefined ? null : (
          <NodePanel
            key={chosen}
            job={job}
            nodeId={chosen}
            definition={detail?.definition}
            task={live.tasks.get(chosen)}
            onChoose={choose}
            onClose={close}
          />
        )}
      </div>
    </Page>
  );
}

function useEscape(close: (() => void) | undefined): void {
  useEffect(() => {
    if (close === undefined) return;
    const take = (event: KeyboardEvent) => {
      if (event.key === "Escape" && document.querySelector("dialog[open]") === null) close();
    };
    window.addEventListener("keydown", take);
    return () => {
      window.removeEventListener("keydown", take);
    };
  }, [close]);
}

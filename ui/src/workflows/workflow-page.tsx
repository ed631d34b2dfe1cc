import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { LazyFlow } from "../graph/lazy-flow.tsx";
import { Icon } from "../shared/icon.tsx";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import type { PageProps } from "../shared/page.tsx";
import { Page } from "../shared/page.tsx";
import { workflowQuery } from "../shared/queries.ts";
import { Await } from "../shared/states.tsx";
import { Badge } from "../shared/status.tsx";
import { TabPanel, Tabs } from "../shared/tabs.tsx";
import { Definition } from "./definition.tsx";
import { NodeStatistics } from "./node-statistics.tsx";
import { RunGrid } from "./run-grid.tsx";

const tabs = [
  { id: "graph", label: "Graph" },
  { id: "runs", label: "Runs" },
  { id: "definition", label: "Definition" },
  { id: "nodes", label: "Node statistics" },
] as const;

export default function WorkflowPage({ params }: PageProps) {
  const workflowId = params["workflowId"] ?? "";
  const id = encodeURIComponent(workflowId);
  const query = useSearchParams();
  const tab = tabs.find(({ id: each }) => each === query.get("tab"))?.id ?? "graph";
  const loaded = useQuery(workflowQuery(workflowId));
  return (
    <Page
      title={workflowId}
      heading={
        <>
          {workflowId}
          {loaded.data === undefined ? null : (
            <>
              <Badge>version {loaded.data.version}</Badge>
              {loaded.data.is_active ? null : <Badge>not active</Badge>}
            </>
          )}
        </>
      }
      actions={
        <>
          <Link to={`/jobs?workflow_id=${id}`} className="button">
            <Icon name="jobs" /> Its jobs
          </Link>
          <Link to={`/workflows/${id}/submit`} className="button solid">
            <Icon name="play" /> Submit
          </Link>
        </>
      }
    >
      <Await query={loaded} what="the workflow">
        {(workflow) => (
          <>
            <p className="dim">{workflow.description ?? workflow.name}</p>
            <div className="card">
              <Tabs
                label="Views of the workflow"
                panel="workflow-view"
                tabs={tabs}
                selected={tab}
                onSelect={(next) => {
                  setSearchParams({ tab: next === "graph" ? undefined : next });
                }}
              />
              <TabPanel id="workflow-view" selected={tab}>
                {tab === "graph" ? <LazyFlow graph={workflow.graph} /> : null}
                {tab === "runs" ? (
                  <RunGrid
                    workflowId={workflowId}
                    order={workflow.graph.nodes.map(({ node_id }) => node_id)}
                  />
                ) : null}
                {tab === "definition" ? (
                  <Definition workflow={workflow} from={query.get("from") ?? undefined} />
                ) : null}
                {tab === "nodes" ? <NodeStatistics workflowId={workflowId} /> : null}
              </TabPanel>
            </div>
          </>
        )}
      </Await>
    </Page>
  );
}

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { nodeStatus } from "../../../src/core/model/node.ts";
import { attemptsOf } from "../../../src/core/model/attempts.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { short } from "../shared/format.ts";
import { MoreRows } from "../shared/more-rows.tsx";
import { useSearchParams } from "../shared/navigation.ts";
import { Page } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await, Notice } from "../shared/states.tsx";
import { StatusPills } from "../shared/status-pills.tsx";
import { Chip } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { TextFilter } from "../shared/text-filter.tsx";
import { Time } from "../shared/time.tsx";

const texts = {
  handler: "Handler",
  worker_id: "Worker",
  error: "Error",
  workflow_id: "Workflow",
} as const;

type NodeOfJob = Awaited<ReturnType<typeof api.listNodes>>["items"][number];

/** Nodes of all jobs, by handler, state, worker and error. */
export default function NodesPage() {
  const query = useSearchParams();
  const status = nodeStatus.safeParse(query.get("status")).data;
  const given = Object.keys(texts).map((name) => [name, query.get(name) ?? undefined]);
  const filter = { status, ...(Object.fromEntries(given) as Record<keyof typeof texts, string>) };
  const nodes = useInfiniteQuery({
    queryKey: ["nodes", filter],
    queryFn: ({ pageParam, signal }) =>
      api.listNodes({ query: { ...filter, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: 5000,
  });
  return (
    <Page title="Nodes">
      <div className="filters">
        <StatusPills states={nodeStatus.options} chosen={status} />
        {Object.entries(texts).map(([name, label]) => (
          <TextFilter key={name} name={name} label={label} value={query.get(name) ?? ""} />
        ))}
      </div>
      <section className="card" data-flush="">
        <div className="card-body">
          <Await query={nodes} what="the nodes">
            {({ pages }) => <Rows nodes={pages.flatMap(({ items }) => items)} />}
          </Await>
          <MoreRows
            query={nodes}
            shown={nodes.data?.pages.reduce((sum, { items }) => sum + items.length, 0) ?? 0}
            what="nodes"
          />
        </div>
      </section>
    </Page>
  );
}

function Rows({ nodes }: { nodes: readonly NodeOfJob[] }) {
  if (nodes.length === 0) {
    return (
      <Notice icon="search" title="No such nodes">
        <p>No node of a job fits these filters.</p>
      </Notice>
    );
  }
  return (
    <Table
      rows={nodes}
      keyOf={({ job_id, node_id }) => `${job_id} ${node_id}`}
      columns={[
        { name: "State", cell: (node) => <Chip status={node.status} /> },
        {
          name: "Node",
          breaks: true,
          cell: ({ job_id, node_id }) => (
            <Link to={`/jobs/${job_id}?node=${encodeURIComponent(node_id)}`}>{node_id}</Link>
          ),
        },
        { name: "Handler", breaks: true, cell: ({ handler }) => handler ?? "–" },
        {
          name: "Job",
          breaks: true,
          cell: ({ job_id, workflow_id }) => (
            <>
              <Link to={`/jobs/${job_id}`}>{short(job_id)}</Link> {workflow_id}
            </>
          ),
        },
        { name: "Worker", breaks: true, cell: ({ worker_id }) => worker_id ?? "–" },
        { name: "Attempts", numeric: true, cell: (node) => attemptsOf(node) },
        { name: "Error", breaks: true, cell: ({ error }) => error?.message ?? "" },
        {
          name: "Since",
          oneLine: true,
          cell: ({ completed_at, started_at, created_at }) => (
            <Time at={completed_at ?? started_at ?? created_at} relative />
          ),
        },
        {
          name: "Retry",
          unnamed: true,
          cell: (node) => (mayRetry(node) ? <Retry node={node} /> : null),
        },
      ]}
    />
  );
}

/** A node that waits for its next attempt, or that failed in a job that has ended. */
function mayRetry({ status, retry_at, job_status }: NodeOfJob): boolean {
  if (job_status === "running") return retry_at !== null;
  return status === "failed" && (job_status === "failed" || job_status === "cancelled");
}

function Retry({ node: { job_id, node_id } }: { node: NodeOfJob }) {
  const params = { job_id, node_id };
  return (
    <Action
      icon="retry"
      label="Retry"
      title={`Retry ${node_id}?`}
      copy={() => ({
        command: commands.rerunJob(job_id, node_id),
        request: curl("POST", `/api/v1/jobs/${job_id}/nodes/${node_id}/retry`),
      })}
      run={async () => {
        const started = await api.retryNode({ params });
        invalidate("nodes");
        return started.job_id === job_id
          ? "Its next attempt starts now"
          : `Job ${short(started.job_id)} runs from this node on`;
      }}
    >
      <p>
        In a running job its next attempt starts at once. Of a job that has ended, a new job runs
        this node and everything after it.
      </p>
    </Action>
  );
}

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { isImplicit } from "../../../src/core/dag/implicit-nodes.ts";
import { api } from "../shared/api.ts";
import { short } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { statusLook } from "../shared/status.tsx";
import { between, duration } from "../shared/time.tsx";

/** The last runs as columns, the nodes as rows: a node that fails now and then stands out. */
export function RunGrid({ workflowId, order }: { workflowId: string; order: readonly string[] }) {
  const workflowRuns = useQuery({
    queryKey: ["workflow", workflowId, "runs"],
    queryFn: ({ signal }) =>
      api.listWorkflowRuns({
        params: { workflow_id: workflowId },
        query: { limit: 50 },
        signal,
      }),
    refetchInterval: 5000,
  });
  return (
    <Await query={workflowRuns} what="the runs">
      {({ items }) => {
        if (items.length === 0) {
          return (
            <Notice icon="jobs" title="This workflow has not run yet">
              <p>Submit it, and each run becomes a column here.</p>
            </Notice>
          );
        }
        const runs = [...items].reverse();
        const longest = Math.max(...runs.map((run) => time(run) || 0), 1);
        const rows = order.filter((id) => !isImplicit(id));
        const known = new Set(rows);
        const former = new Set(
          runs
            .flatMap(({ nodes }) => nodes.map(({ node_id }) => node_id))
            .filter((id) => !known.has(id)),
        );
        return (
          <div
            className="run-grid card-body"
            tabIndex={0}
            role="region"
            aria-label="Runs and nodes"
          >
            <table>
              <thead>
                <tr>
                  <th scope="col">
                    <span className="dim">longest {duration(longest)}</span>
                  </th>
                  {runs.map((run) => (
                    <th key={run.job_id} scope="col">
                      <Link
                        to={`/jobs/${encodeURIComponent(run.job_id)}`}
                        aria-label={`Job ${run.job_id}, ${run.status}`}
                        title={`${short(run.job_id)} ${run.status}, ${duration(time(run))}`}
                      >
                        <span className="run-bar" data-tone={statusLook[run.status].tone}>
                          <span style={{ height: `${((time(run) || 0) / longest) * 100}%` }} />
                        </span>
                      </Link>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {[...rows, ...former].map((nodeId) => (
                  <tr key={nodeId}>
                    <th scope="row">{nodeId}</th>
                    {runs.map((run) => (
                      <td key={run.job_id}>
                        <Cell run={run} nodeId={nodeId} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        );
      }}
    </Await>
  );
}

type Run = Awaited<ReturnType<typeof api.listWorkflowRuns>>["items"][number];

function time({ started_at, completed_at }: Run): number {
  return between(started_at, completed_at);
}

function Cell({ run, nodeId }: { run: Run; nodeId: string }) {
  const node = run.nodes.find(({ node_id }) => node_id === nodeId);
  if (node === undefined) return <span className="cell empty" />;
  const { icon, tone } = statusLook[node.status];
  const took = node.seconds === null ? "" : `, ${duration(node.seconds * 1000)}`;
  return (
    <Link
      to={`/jobs/${encodeURIComponent(run.job_id)}?node=${encodeURIComponent(nodeId)}`}
      className="cell"
      data-tone={tone}
      title={`${nodeId} ${node.status}${took}`}
      tabIndex={-1}
    >
      <Icon name={icon} label={node.status} />
    </Link>
  );
}

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../shared/api.ts";
import { short } from "../shared/format.ts";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { Elapsed } from "../shared/time.tsx";

/** The tasks that workers run now. */
export function CurrentTasks() {
  const nodes = useQuery({
    queryKey: ["running-nodes"],
    queryFn: ({ signal }) => api.listNodes({ query: { status: "running", limit: 100 }, signal }),
    refetchInterval: 3000,
  });
  return (
    <Card title="Running tasks" flush>
      <Await query={nodes} what="the tasks">
        {({ items }) => {
          const onWorkers = items.filter(({ worker_id }) => worker_id !== null);
          if (onWorkers.length === 0) {
            return <p className="dim card-body">No task is running at the moment.</p>;
          }
          return (
            <Table
              rows={onWorkers}
              keyOf={({ job_id, node_id }) => `${job_id} ${node_id}`}
              columns={[
                { name: "Worker", cell: ({ worker_id }) => <code>{worker_id}</code> },
                {
                  name: "Task",
                  cell: ({ job_id, node_id }) => (
                    <Link
                      to={`/jobs/${encodeURIComponent(job_id)}?node=${encodeURIComponent(node_id)}`}
                    >
                      {node_id}
                    </Link>
                  ),
                },
                {
                  name: "Job",
                  cell: ({ workflow_id, job_id }) => (
                    <>
                      {workflow_id} <code className="dim">{short(job_id)}</code>
                    </>
                  ),
                },
                { name: "Handler", wideOnly: true, cell: ({ handler }) => <code>{handler}</code> },
                {
                  name: "For",
                  numeric: true,
                  cell: ({ started_at }) => <Elapsed from={started_at} to={null} />,
                },
                {
                  name: "Progress",
                  cell: ({ progress }) =>
                    progress === null
                      ? "–"
                      : `${Math.round(progress.percent)} % ${progress.message ?? ""}`,
                },
              ]}
            />
          );
        }}
      </Await>
    </Card>
  );
}

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../shared/api.ts";
import { short } from "../shared/format.ts";
import { MoreRows } from "../shared/more-rows.tsx";
import { useSearchParams } from "../shared/navigation.ts";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { Elapsed } from "../shared/time.tsx";

type Task = Awaited<ReturnType<typeof api.listNodes>>["items"][number];

const pageSize = 100;

/** The tasks that workers run now. With a queue in the address, also those that wait on it. */
export function CurrentTasks() {
  const queue = useSearchParams().get("queue") ?? undefined;
  if (queue === undefined) return <Tasks title="Running tasks" status="running" />;
  return (
    <>
      <Tasks title={`Running tasks of ${queue}`} status="running" queue={queue} />
      <Tasks title={`Waiting tasks of ${queue}`} status="dispatched" queue={queue} />
    </>
  );
}

function Tasks({
  title,
  status,
  queue,
}: {
  title: string;
  status: "running" | "dispatched";
  queue?: string;
}) {
  const nodes = useInfiniteQuery({
    queryKey: ["tasks", status, queue],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.listNodes({ query: { status, queue, limit: pageSize, cursor }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 3000,
  });
  return (
    <Card
      title={title}
      flush
      aside={
        queue === undefined ? null : (
          <Link to="/fleet" className="dim">
            All queues
          </Link>
        )
      }
    >
      <Await query={nodes} what="the tasks">
        {({ pages }) => {
          const tasks = pages
            .flatMap(({ items }) => items)
            .filter(({ task_id }) => task_id !== null);
          if (tasks.length === 0) {
            return (
              <p className="dim card-body">
                No task is {status === "running" ? "running" : "waiting"} at the moment.
              </p>
            );
          }
          return (
            <>
              <Table
                rows={tasks}
                keyOf={({ job_id, node_id }) => `${job_id} ${node_id}`}
                columns={[
                  ...(status === "running"
                    ? [{ name: "Worker", cell: ({ worker_id }: Task) => <code>{worker_id}</code> }]
                    : []),
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
                      <Link to={`/jobs/${encodeURIComponent(job_id)}`}>
                        {workflow_id} <code className="dim">{short(job_id)}</code>
                      </Link>
                    ),
                  },
                  { name: "Handler", cell: ({ handler }) => <code>{handler}</code> },
                  {
                    name: "For",
                    numeric: true,
                    cell: ({ started_at, dispatched_at }) => (
                      <Elapsed from={status === "running" ? started_at : dispatched_at} to={null} />
                    ),
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
              <MoreRows query={nodes} shown={tasks.length} what="tasks" />
            </>
          );
        }}
      </Await>
    </Card>
  );
}

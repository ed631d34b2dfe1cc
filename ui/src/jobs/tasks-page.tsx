import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../shared/api.ts";
import { number } from "../shared/format.ts";
import { MoreRows } from "../shared/more-rows.tsx";
import { useSearchParams } from "../shared/navigation.ts";
import { Card, Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { StatusPills } from "../shared/status-pills.tsx";
import { Chip } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { TextFilter } from "../shared/text-filter.tsx";
import { Time, duration } from "../shared/time.tsx";
import { classesOf } from "./durations.ts";

const states = ["completed", "failed"] as const;
type Task = Awaited<ReturnType<typeof api.listTasks>>["items"][number];

/** Attempts that workers reported, by worker, with a histogram of how long they took. */
export default function TasksPage() {
  const query = useSearchParams();
  const status = states.find((each) => each === query.get("status"));
  const filter = { status, worker_id: query.get("worker_id") ?? undefined };
  const tasks = useInfiniteQuery({
    queryKey: ["tasks", filter],
    queryFn: ({ pageParam, signal }) =>
      api.listTasks({ query: { ...filter, limit: 200, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: 5000,
  });
  return (
    <Page title="Tasks">
      <div className="filters">
        <StatusPills states={states} chosen={status} />
        <TextFilter name="worker_id" label="Worker" value={filter.worker_id} />
      </div>
      <Await query={tasks} what="the tasks">
        {({ pages }) => {
          const shown = pages.flatMap(({ items }) => items);
          return (
            <>
              <Durations tasks={shown} />
              <Card title="Results" flush>
                <Rows tasks={shown} />
                <MoreRows query={tasks} shown={shown.length} what="tasks" />
              </Card>
            </>
          );
        }}
      </Await>
    </Page>
  );
}

function Durations({ tasks }: { tasks: readonly Task[] }) {
  const seconds = tasks.flatMap((task) => task.seconds ?? []);
  const classes = classesOf(seconds);
  const most = Math.max(...classes.map(({ count }) => count), 1);
  if (classes.length === 0) return null;
  return (
    <Card title={`Durations of the ${number(seconds.length)} tasks below`}>
      <dl className="histogram">
        {classes.map(({ label, count }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <span className="histogram-bar" style={{ width: `${(100 * count) / most}%` }} />
              {number(count)}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Rows({ tasks }: { tasks: readonly Task[] }) {
  if (tasks.length === 0) {
    return (
      <Notice icon="search" title="No such tasks">
        <p>No worker has reported a result that fits these filters.</p>
      </Notice>
    );
  }
  return (
    <Table
      rows={tasks}
      keyOf={({ task_id }) => task_id}
      columns={[
        { name: "State", cell: (task) => <Chip status={task.status} /> },
        {
          name: "Task",
          breaks: true,
          cell: ({ task_id, job_id, node_id }) => (
            <Link to={`/jobs/${job_id}?node=${encodeURIComponent(node_id)}`}>{task_id}</Link>
          ),
        },
        {
          name: "Worker",
          breaks: true,
          cell: ({ worker_id }) =>
            worker_id === null ? (
              "–"
            ) : (
              <Link to={`/tasks?worker_id=${encodeURIComponent(worker_id)}`}>{worker_id}</Link>
            ),
        },
        {
          name: "Took",
          numeric: true,
          oneLine: true,
          cell: ({ seconds }) => (seconds === null ? "–" : duration(seconds * 1000)),
        },
        {
          name: "Reported",
          oneLine: true,
          cell: (task) => <Time at={task.reported_at} relative />,
        },
        { name: "Error", breaks: true, cell: ({ error }) => error?.message ?? "" },
      ]}
    />
  );
}

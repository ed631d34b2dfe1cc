import { Suspense, lazy } from "react";
import { api } from "../shared/api.ts";
import { ageText, number, plural } from "../shared/format.ts";
import type { Status } from "../shared/status.ts";
import { statusLook } from "../shared/status.ts";
import { useQuery } from "../shared/query-client.ts";
import { Chip } from "../shared/chip.tsx";
import { Icon } from "../shared/icon.tsx";
import { JobRows } from "../jobs/job-rows.tsx";
import { Card, Page } from "../shared/page.tsx";
import { Await, Loading, Notice } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { Link } from "../shared/navigation.tsx";

const ThroughputChart = lazy(() => import("./throughput-chart.tsx"));

const everyMs = 3000;

export default function Dashboard() {
  const counts = useQuery("counts", (signal) => api.countJobs({ signal }), { everyMs });
  const recent = useQuery(
    "recent jobs",
    (signal) => api.listJobs({ query: { limit: 12 }, signal }),
    { everyMs },
  );
  const empty = counts.data?.total === 0;
  return (
    <Page
      title="Dashboard"
      actions={
        <Link to="/workflows" className="button solid">
          <Icon name="plus" /> Submit a job
        </Link>
      }
    >
      <Await loaded={counts} what="the counts">
        {(found) => (
          <div className="tiles">
            <Tile status="running" count={found.running} to="/jobs?status=running" />
            <Tile status="pending" count={found.pending} to="/jobs?status=pending" />
            <Tile status="failed" count={found.failed} to="/jobs?status=failed" />
            <Tile status="completed" count={found.completed} to="/jobs?status=completed" />
            <Tile status="cancelled" count={found.cancelled} to="/jobs?status=cancelled" />
          </div>
        )}
      </Await>
      {empty ? <Welcome /> : null}
      <div className="grid-2">
        <Throughput />
        <Health />
      </div>
      <div className="grid-2">
        <Queues />
        <Failures />
      </div>
      <Card
        title="Recent jobs"
        flush
        aside={
          <Link to="/jobs" className="dim">
            All jobs
          </Link>
        }
      >
        <Await loaded={recent} what="the jobs">
          {({ items }) => <JobRows jobs={items} />}
        </Await>
      </Card>
    </Page>
  );
}

function Tile({ status, count, to }: { status: Status; count: number; to: string }) {
  return (
    <Link to={to} className="tile" data-tone={statusLook[status].tone}>
      <strong>{number(count)}</strong>
      <span>
        <Icon name={statusLook[status].icon} /> {status}
      </span>
    </Link>
  );
}

function Welcome() {
  return (
    <Card title="Nothing has run here yet">
      <Notice
        icon="workflow"
        title="Submit the first job"
        action={
          <Link to="/workflows/hello_world/submit" className="button solid">
            Run hello_world
          </Link>
        }
      >
        <p>
          Choose a workflow, or in a shell: <code>rmhdag submit hello_world --wait</code>
        </p>
      </Notice>
    </Card>
  );
}

function Throughput() {
  const loaded = useQuery(
    "throughput",
    (signal) => api.getThroughput({ query: { hours: 24, bucket_minutes: 60 }, signal }),
    { everyMs: 15_000 },
  );
  return (
    <Card
      title="Jobs that ended, by hour"
      aside={
        <span className="row">
          <span className="legend" data-tone="good">
            completed
          </span>
          <span className="legend" data-tone="bad">
            failed
          </span>
          <span className="legend" data-tone="stop">
            cancelled
          </span>
        </span>
      }
    >
      <Await loaded={loaded} what="the throughput">
        {({ items }) => (
          <Suspense fallback={<Loading what="the chart" />}>
            <ThroughputChart steps={items} />
          </Suspense>
        )}
      </Await>
    </Card>
  );
}

function Health() {
  const loaded = useQuery("health", (signal) => api.health({ signal }), { everyMs: 5000 });
  return (
    <Card
      title="Health"
      aside={loaded.data === undefined ? null : <Chip status={loaded.data.status} />}
    >
      <Await loaded={loaded} what="the health">
        {({ version, parts = {} }) => (
          <>
            <ul className="parts-list">
              {Object.entries(parts).map(([name, part]) => (
                <li key={name}>
                  <Chip status={part.status} />
                  <span>
                    <strong>{name}</strong> <span className="dim">{part.detail}</span>
                  </span>
                </li>
              ))}
            </ul>
            <p className="dim">Version {version}</p>
          </>
        )}
      </Await>
    </Card>
  );
}

function Queues() {
  const loaded = useQuery("queues", (signal) => api.getQueues({ signal }), { everyMs });
  return (
    <Card
      title="Queues"
      flush
      aside={
        <Link to="/fleet" className="dim">
          Fleet
        </Link>
      }
    >
      <Await loaded={loaded} what="the queues">
        {({ items }) => (
          <Table
            rows={items}
            keyOf={({ queue }) => queue}
            columns={[
              { name: "Queue", cell: ({ queue }) => <code>{queue}</code> },
              {
                name: "Waiting",
                numeric: true,
                cell: ({ ready, delayed }) => number(ready + delayed),
              },
              { name: "Running", numeric: true, cell: ({ in_flight }) => number(in_flight) },
              { name: "Oldest", numeric: true, cell: ({ oldest_seconds: age }) => ageText(age) },
              {
                name: "Dead",
                numeric: true,
                cell: ({ dead }) =>
                  dead === 0 ? "0" : <span className="error-text">{number(dead)}</span>,
              },
              { name: "Workers", numeric: true, cell: ({ workers }) => workers },
            ]}
          />
        )}
      </Await>
    </Card>
  );
}

function Failures() {
  const loaded = useQuery(
    "failures",
    (signal) => api.getFailures({ query: { days: 7, limit: 6 }, signal }),
    { everyMs: 15_000 },
  );
  return (
    <Card title="What fails most, in 7 days" flush>
      <Await loaded={loaded} what="the failures">
        {({ items }) =>
          items.length === 0 ? (
            <p className="dim card-body">Nothing failed in the last seven days.</p>
          ) : (
            <Table
              rows={items}
              keyOf={({ workflow_id, node_id, error_message }) =>
                `${workflow_id} ${node_id ?? ""} ${error_message}`
              }
              columns={[
                { name: "Times", numeric: true, cell: ({ occurrences }) => number(occurrences) },
                {
                  name: "Where",
                  cell: ({ workflow_id, node_id, occurrences }) => (
                    <>
                      <Link
                        to={`/jobs?status=failed&workflow_id=${encodeURIComponent(workflow_id)}`}
                        title={plural(occurrences, "failure")}
                      >
                        {workflow_id}
                      </Link>{" "}
                      <span className="dim">{node_id}</span>
                    </>
                  ),
                },
                {
                  name: "Message",
                  cell: ({ error_message }) => <div className="clamp">{error_message}</div>,
                },
                {
                  name: "Last",
                  oneLine: true,
                  cell: ({ last_job_id, last_at }) => (
                    <Link to={`/jobs/${encodeURIComponent(last_job_id)}`}>
                      <Time at={last_at} relative />
                    </Link>
                  ),
                },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}

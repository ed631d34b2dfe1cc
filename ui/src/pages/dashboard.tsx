import { Suspense, lazy } from "react";
import { api } from "../api.ts";
import { duration, number, plural } from "../lib/format.ts";
import type { Status } from "../lib/status.ts";
import { statusLook } from "../lib/status.ts";
import { useQuery } from "../live/use-query.ts";
import { Chip } from "../parts/chip.tsx";
import { Icon } from "../parts/icon.tsx";
import { JobRows } from "../parts/job-rows.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Await, Loading, Notice } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { Link } from "../router.tsx";

const ThroughputChart = lazy(() => import("../parts/throughput-chart.tsx"));

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
          <table>
            <thead>
              <tr>
                <th>Queue</th>
                <th className="num">Waiting</th>
                <th className="num">Running</th>
                <th className="num">Oldest</th>
                <th className="num">Dead</th>
                <th className="num">Workers</th>
              </tr>
            </thead>
            <tbody>
              {items.map((queue) => (
                <tr key={queue.queue}>
                  <td>
                    <code>{queue.queue}</code>
                  </td>
                  <td className="num">{number(queue.ready + queue.delayed)}</td>
                  <td className="num">{number(queue.in_flight)}</td>
                  <td className="num">
                    {queue.oldest_seconds === null ? "–" : duration(queue.oldest_seconds * 1000)}
                  </td>
                  <td className="num">
                    {queue.dead === 0 ? "0" : <span className="error-text">{queue.dead}</span>}
                  </td>
                  <td className="num">{queue.workers}</td>
                </tr>
              ))}
            </tbody>
          </table>
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
            <table>
              <thead>
                <tr>
                  <th className="num">Times</th>
                  <th>Where</th>
                  <th>Message</th>
                  <th>Last</th>
                </tr>
              </thead>
              <tbody>
                {items.map((failure) => (
                  <tr
                    key={`${failure.workflow_id} ${failure.node_id ?? ""} ${failure.error_message}`}
                  >
                    <td className="num">{number(failure.occurrences)}</td>
                    <td>
                      <Link
                        to={`/jobs?status=failed&workflow_id=${encodeURIComponent(failure.workflow_id)}`}
                        title={plural(failure.occurrences, "failure")}
                      >
                        {failure.workflow_id}
                      </Link>{" "}
                      <span className="dim">{failure.node_id}</span>
                    </td>
                    <td>
                      <div className="clamp">{failure.error_message}</div>
                    </td>
                    <td className="nowrap">
                      <Link to={`/jobs/${encodeURIComponent(failure.last_job_id)}`}>
                        <Time at={failure.last_at} relative />
                      </Link>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Await>
    </Card>
  );
}

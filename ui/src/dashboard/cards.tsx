/** The cards of the dashboard; each reads and polls its own data. */
import { useQuery } from "@tanstack/react-query";
import { Suspense, lazy } from "react";
import { Link } from "wouter";
import { WaitingTasks, WhyWaiting } from "../fleet/why-waiting.tsx";
import type { JsonObject } from "../../../src/core/model/json.ts";
import { api } from "../shared/api.ts";
import { number, plural } from "../shared/format.ts";
import { Card } from "../shared/page.tsx";
import { queuesQuery } from "../shared/queries.ts";
import { Await, Loading } from "../shared/states.tsx";
import { Chip } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { Time, ageText } from "../shared/time.tsx";

type HealthAnswer = Awaited<ReturnType<typeof api.health>>;

const ThroughputChart = lazy(() => import("./throughput-chart.tsx"));

export function Throughput() {
  const throughput = useQuery({
    queryKey: ["throughput"],
    queryFn: ({ signal }) =>
      api.getThroughput({ query: { hours: 24, bucket_minutes: 60 }, signal }),
    refetchInterval: 15_000,
  });
  return (
    <Card
      title="Finished jobs by hour"
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
      <Await query={throughput} what="the throughput">
        {({ items }) => (
          <Suspense fallback={<Loading what="the chart" />}>
            <ThroughputChart steps={items} />
          </Suspense>
        )}
      </Await>
    </Card>
  );
}

export function Health() {
  const health = useQuery({
    queryKey: ["health"],
    queryFn: ({ signal }) => api.health({ signal }),
    refetchInterval: 5000,
  });
  return (
    <Card
      title="Health"
      aside={health.data === undefined ? null : <Chip status={health.data.status} />}
    >
      <Await query={health} what="the health">
        {({ version, parts = {} }) => (
          <>
            <ul className="parts-list">
              {Object.entries(parts).map(([name, part]) => (
                <li key={name}>
                  <PartChip {...part} />
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

/** Full queues are no fault of the fleet, but what waits is not "ok" either. */
function PartChip({ status, facts }: { status: HealthAnswer["status"]; facts: JsonObject }) {
  const full = facts["full_queues"];
  const isFull = status === "ok" && Array.isArray(full) && full.length > 0;
  return isFull ? <Chip status="degraded" text="full" /> : <Chip status={status} />;
}

export function Queues() {
  const queues = useQuery(queuesQuery);
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
      <Await query={queues} what="the queues">
        {({ items }) => (
          <Table
            rows={items}
            keyOf={({ queue }) => queue}
            columns={[
              { name: "Queue", oneLine: true, cell: ({ queue }) => <code>{queue}</code> },
              { name: "Waiting", numeric: true, cell: (queue) => <WaitingTasks {...queue} /> },
              { name: "Why", cell: (queue) => <WhyWaiting {...queue} /> },
              { name: "Oldest", numeric: true, cell: ({ oldest_seconds: age }) => ageText(age) },
              {
                name: "Busy slots",
                numeric: true,
                oneLine: true,
                cell: ({ busy, slots }) => `${busy} of ${slots}`,
              },
              {
                name: "Dead",
                numeric: true,
                cell: ({ dead }) =>
                  dead === 0 ? "0" : <span className="error-text">{number(dead)}</span>,
              },
            ]}
          />
        )}
      </Await>
    </Card>
  );
}

export function Failures() {
  const failures = useQuery({
    queryKey: ["failures"],
    queryFn: ({ signal }) => api.getFailures({ query: { days: 7, limit: 6 }, signal }),
    refetchInterval: 15_000,
  });
  return (
    <Card title="Most frequent failures, last 7 days" flush>
      <Await query={failures} what="the failures">
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

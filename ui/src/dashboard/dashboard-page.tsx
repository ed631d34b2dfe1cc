import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { JobRows } from "../jobs/job-rows.tsx";
import { api } from "../shared/api.ts";
import { number } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { Card, Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import type { Status } from "../shared/status.tsx";
import { statusLook } from "../shared/status.tsx";
import { Failures, Health, Queues, Throughput } from "./cards.tsx";

const tiles = ["running", "pending", "failed", "completed", "cancelled"] as const;

export default function DashboardPage() {
  const counts = useQuery({
    queryKey: ["job-counts", {}],
    queryFn: ({ signal }) => api.countJobs({ signal }),
    refetchInterval: 3000,
  });
  const recent = useQuery({
    queryKey: ["job-list", "recent"],
    queryFn: ({ signal }) => api.listJobs({ query: { limit: 12 }, signal }),
    refetchInterval: 3000,
  });
  return (
    <Page
      title="Dashboard"
      actions={
        <Link to="/workflows" className="button solid">
          <Icon name="plus" /> Submit a job
        </Link>
      }
    >
      <Await query={counts} what="the counts">
        {(found) => (
          <div className="tiles">
            {tiles.map((status) => (
              <Tile key={status} status={status} count={found[status]} />
            ))}
          </div>
        )}
      </Await>
      {counts.data?.total === 0 ? <Welcome /> : null}
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
        <Await query={recent} what="the jobs">
          {({ items }) => <JobRows jobs={items} />}
        </Await>
      </Card>
    </Page>
  );
}

function Tile({ status, count }: { status: Status; count: number }) {
  return (
    <Link to={`/jobs?status=${status}`} className="tile" data-tone={statusLook[status].tone}>
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

import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { JobSummary } from "../../../src/core/api/job-schemas.ts";
import { jobFilter } from "../../../src/core/api/job-schemas.ts";
import { jobStatus } from "../../../src/core/model/job.ts";
import { api } from "../shared/api.ts";
import { Icon } from "../shared/icon.tsx";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Page } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { StatusPills } from "../shared/status-pills.tsx";
import { TextFilter } from "../shared/text-filter.tsx";
import type { Filter } from "./bulk-actions.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { JobRows } from "./job-rows.tsx";
import { SavedViews } from "./saved-views.tsx";

const pageSize = 50;

export default function JobsPage() {
  const query = useSearchParams();
  const { filter, ignored } = useMemo(() => readFilter(query), [query]);
  const anyStatus = { ...filter, status: undefined };
  const counts = useQuery({
    queryKey: ["job-counts", anyStatus],
    queryFn: ({ signal }) => api.countJobs({ query: anyStatus, signal }),
    refetchInterval: 4000,
  });
  const newest = useQuery({
    queryKey: ["job-list", filter],
    queryFn: ({ signal }) => api.listJobs({ query: { ...filter, limit: pageSize }, signal }),
    refetchInterval: 4000,
  });
  const { older, cursor, loadOlder } = useOlderJobs(filter, newest.data?.next_cursor);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((jobId: string) => {
    setMarked((before) => {
      const next = new Set(before);
      if (!next.delete(jobId)) next.add(jobId);
      return next;
    });
  }, []);

  const text = query.toString();
  return (
    <Page title="Jobs" actions={<BulkActions filter={filter} marked={marked} />}>
      <SavedViews query={text} />
      <div className="filters">
        <StatusPills states={jobStatus.options} chosen={filter.status} counts={counts.data} />
        <TextFilter name="workflow_id" label="Workflow" value={filter.workflow_id} />
        <TextFilter name="correlation_id" label="Request" value={filter.correlation_id} />
        <TextFilter name="submitted_by" label="By" value={filter.submitted_by} />
        <TextFilter name="search" label="Any of these" value={filter.search} />
        {text === "" ? null : (
          <button
            className="button quiet"
            onClick={() => {
              setSearchParams(
                Object.fromEntries([...query.keys()].map((name) => [name, undefined])),
              );
            }}
          >
            <Icon name="cross" /> Clear
          </button>
        )}
      </div>
      {ignored.length === 0 ? null : (
        <p className="error-text">
          These parts of the address are no valid filters and are ignored: {ignored.join(", ")}.
        </p>
      )}
      <section className="card" data-flush="">
        <div className="card-body">
          <Await query={newest} what="the jobs">
            {({ items }) => (
              <JobRows jobs={merge(items, older)} selection={{ ids: marked, toggle }} />
            )}
          </Await>
        </div>
      </section>
      {cursor == null ? null : (
        <div>
          <button className="button" onClick={() => void loadOlder()}>
            <Icon name="down" /> Older jobs
          </button>
        </div>
      )}
    </Page>
  );
}

interface OlderJobs {
  readonly key: string;
  readonly jobs: readonly JobSummary[];
  readonly cursor: string | null | undefined;
}

/** Pages behind the newest one. They are read once: only the newest page is polled. */
function useOlderJobs(filter: Filter, firstCursor: string | null | undefined) {
  const key = JSON.stringify(filter);
  const empty: OlderJobs = { key, jobs: [], cursor: undefined };
  const [stored, setStored] = useState<OlderJobs>(empty);
  const { jobs, cursor: nextCursor } = stored.key === key ? stored : empty;
  const cursor = nextCursor === undefined ? firstCursor : nextCursor;

  async function loadOlder(): Promise<void> {
    if (cursor == null) return;
    const page = await api.listJobs({ query: { ...filter, limit: pageSize, cursor } });
    setStored({ key, jobs: [...jobs, ...page.items], cursor: page.next_cursor });
  }

  return { older: jobs, cursor, loadOlder };
}

/** New jobs push older ones from the first page to the next: each is shown once. */
function merge(newest: readonly JobSummary[], older: readonly JobSummary[]): JobSummary[] {
  const seen = new Set(newest.map(({ job_id }) => job_id));
  return [...newest, ...older.filter(({ job_id }) => !seen.has(job_id))];
}

function readFilter(query: URLSearchParams): { filter: Filter; ignored: string[] } {
  const filter: Record<string, string> = {};
  const ignored: string[] = [];
  for (const [name, value] of query) {
    const known = Object.hasOwn(jobFilter.shape, name);
    if (known && jobFilter.safeParse({ [name]: value }).success) filter[name] = value;
    else ignored.push(name);
  }
  return { filter, ignored };
}
